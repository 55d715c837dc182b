import { type Clock, type Millis, readClock } from "../clock.js";
import type { Asked, MemoryBans } from "../extension.js";
import type { Penalty, Policy } from "../policy/policy.js";
import type { PolicyTable } from "../store/memory/policy-table.js";
import type { Tables } from "../store/memory/tables.js";
import type { Ban, Outcome } from "../store/store.js";
import { type BanPolicy, ban, type Strikes } from "./ban-algorithm.js";

/** The bans of a memory store, in tables beside those of the policies. */
export class BansInMemory implements MemoryBans {
  readonly #tables: Tables;
  readonly #clock: Clock;

  constructor(tables: Tables, clock: Clock) {
    this.#tables = tables;
    this.#clock = clock;
  }

  endsInMs(policy: Policy, subject: string, now: Millis): Millis {
    const table = this.#tableOf(policy);
    const slot = table.slotOf(subject);
    return slot === undefined ? 0 : Math.max(0, table.load(slot).untilMs - now);
  }

  told(outcome: Outcome, subject: string, { now, wantNext }: Asked): Outcome {
    return underBan(outcome, this.endsInMs(outcome.policy, subject, now), wantNext);
  }

  struck(outcome: Outcome, subject: string, asked: Asked): Outcome {
    if (outcome.policy.penalty?.on !== "refusals" || outcome.banMs > 0) return outcome;
    this.strike(outcome.policy, subject, asked.now);
    return this.told(outcome, subject, asked);
  }

  strike(policy: Policy, subject: string, now: Millis = readClock(this.#clock)): void {
    this.#change(policy, { subject, now }, (state) => {
      // Who is banned is not counted: refusals must not make a ban longer.
      if (state.untilMs <= now) ban.spend(banPolicyOf(policy), state, now, 1);
    });
  }

  set(policy: Policy, subject: string, forMs: Millis): void {
    const now = readClock(this.#clock);
    this.#change(policy, { subject, now }, (state) => {
      state.untilMs = forMs === 0 ? 0 : now + forMs;
      state.count = 0;
    });
  }

  forget(policy: Policy, subject: string, keepBan: boolean): void {
    const now = readClock(this.#clock);
    if (keepBan && this.endsInMs(policy, subject, now) > 0)
      this.#change(policy, { subject, now }, (state) => {
        state.count = 0;
      });
    else this.#tables.forget(banPolicyOf(policy).name, subject);
  }

  list(policies: readonly Policy[], most: number): readonly Ban[] {
    const now = readClock(this.#clock);
    const found: Ban[] = [];
    for (const policy of policies) {
      // Before it lost its penalty it may have had bans; nobody looks for them.
      if (policy.penalty === undefined) continue;
      const table = this.#tableOf(policy);
      for (let slot = 0; slot < table.size && found.length < most; slot += 1) {
        const endsInMs = table.load(slot).untilMs - now;
        if (endsInMs <= 0) continue;
        found.push({ policyName: policy.name, subject: table.subjectOf(slot), endsInMs });
      }
    }
    return found;
  }

  #change(
    policy: Policy,
    { subject, now }: { subject: string; now: Millis },
    change: (state: Strikes) => void,
  ): void {
    const table = this.#tableOf(policy);
    const slot = table.slotOf(subject);
    const state = slot === undefined ? table.untouched() : table.load(slot);
    change(state);
    const keeper = banPolicyOf(policy);
    if (ban.expiresAt(keeper, state) <= now) this.#tables.forget(keeper.name, subject);
    else this.#tables.keep({ table, slot, state, keeper }, state, subject, now);
  }

  #tableOf(policy: Policy): PolicyTable<Strikes> {
    return this.#tables.tableOf(banPolicyOf(policy), ban);
  }
}

const banPolicies = new WeakMap<Penalty, BanPolicy>();

// One for all tiers of a policy, which share its penalty.
function banPolicyOf(policy: Policy): BanPolicy {
  const penalty = policy.penalty as Penalty;
  let made = banPolicies.get(penalty);
  if (made === undefined) {
    made = { ...penalty, name: `${policy.name}!`, algorithm: "ban" };
    banPolicies.set(penalty, made);
  }
  return made;
}

/** An outcome under a ban: nothing that costs is admitted before it ends. */
function underBan(outcome: Outcome, banMs: Millis, wantNext: boolean): Outcome {
  if (banMs === 0) return outcome;
  const { cost, remaining, retryAfterMs, nextMs = 0, resetMs, receipt } = outcome;
  // What is settled has been done, ban or no ban.
  const spared = cost === 0 || receipt !== undefined;
  return {
    ...outcome,
    allowed: outcome.allowed && spared,
    remaining: 0,
    retryAfterMs: spared ? retryAfterMs : Math.max(retryAfterMs, banMs),
    // Nothing remains under a ban, so there is an instant when something does, also for an untouched subject.
    nextMs: !wantNext ? undefined : remaining > 0 ? banMs : Math.max(nextMs, banMs),
    resetMs: Math.max(resetMs, banMs),
    banMs,
    delayMs: 0,
  };
}
