import fc from "fast-check";
import { capacityOf } from "../../policy/capacity.js";
import type { MigrationRule, Policy } from "../../policy/policy.js";
import type { PolicyInput } from "../../policy/rules.js";
import type { Outcome } from "../../store/store.js";
import { answerOf, expectSame, expectSameAnswer, expectThat } from "../expectation.js";
import { anySteps, type History } from "./history.js";
import { type Law, type LawBody, lawOf } from "./law.js";
import { anyPolicy, lawSubjects } from "./policies.js";
import { answered, type Steps } from "./steps.js";
import type { Trial } from "./trial.js";

/** A history that goes from one policy to another of the same name. */
interface ChangingHistory extends History {
  readonly other: PolicyInput;
  readonly rule: MigrationRule;
  readonly share: number;
}

/** What policies that go beyond a plain limit must do: tiers, versions, penalties, debt, shadows. */
export function policyLaws(): readonly Law[] {
  const histories = anyChange();
  return [
    lawOf("tiers share one count", histories, tiersShare),
    lawOf("keep, scale and reset say what is used at the switch", histories, usedAtTheSwitch),
    lawOf("waits are honest after a switch", histories, honestAfterSwitch),
    lawOf("a version in a state never goes down", histories, versionsGoUp),
    lawOf("two versions side by side keep to their bound", histories, twoVersions),
    lawOf("a part given back is a smaller charge", histories, partRefund),
    lawOf("a settled cost takes what capacity and debt have room for", histories, settledCost),
    lawOf("a ban begins with the last strike and ends to the millisecond", histories, bans),
    lawOf("strikes touch no allowance", histories, strikesAreApart),
    lawOf("a shadow policy has no say", histories, shadowHasNoSay),
  ];
}

function anyChange(): fc.Arbitrary<ChangingHistory> {
  const policy = fc.oneof(...lawSubjects.map((subject) => anyPolicy(subject)));
  const rule = fc.constantFrom<MigrationRule>("keep", "scale", "reset");
  return fc
    .tuple(policy, policy, rule, fc.nat({ max: 100 }), anySteps())
    .map(([first, second, rule, share, steps]) => ({
      policy: first,
      other: second,
      rule,
      share,
      startMs: 1_700_000_000_000,
      steps,
    }));
}

/** The two policies of a history, the second with a higher version. */
function versionsOf(trial: Trial, { policy, other, rule }: ChangingHistory): [Policy, Policy] {
  return [
    trial.named("changing", policy),
    trial.named("changing", { ...other, version: 2, migrate: rule }),
  ];
}

function* one(trial: Trial, policy: Policy, cost: number): Steps<Outcome> {
  const [outcome] = yield* trial.apply([{ policy, subject: "a", cost }], "commit");
  return outcome as Outcome;
}

function* look(trial: Trial, policy: Policy, cost = 0): Steps<Outcome> {
  const [outcome] = yield* trial.apply([{ policy, subject: "a", cost }], "peek");
  return outcome as Outcome;
}

/** Uses some of a policy, step by step, and then moves on a little: less than a window. */
function* useSome(trial: Trial, policy: Policy, { steps, share }: ChangingHistory): Steps<void> {
  for (const [advance, cost, pick] of steps.slice(0, 4)) {
    const { remaining } = yield* look(trial, policy);
    if (remaining > 0) yield* one(trial, policy, 1 + ((cost * pick) % remaining));
    trial.clock.set(trial.now + (advance % 3));
  }
  trial.clock.set(trial.now + Math.floor((policy.windowMs * share) / 200));
}

const tiersShare: LawBody<ChangingHistory> = function* (trial, history) {
  const free = trial.named("tiered", history.policy);
  const more = 1 + history.share;
  const room = capacityOf(free) < 2 ** 20 && free.windowMs < 2 ** 20;
  const { limit } = free;
  const pro = trial.named("tiered", {
    ...history.policy,
    limit: room ? limit + more : limit,
    ...(free.algorithm === "token-bucket" && { burst: free.burst + (room ? more : 0) }),
    ...(free.algorithm === "leaky-bucket" && { queue: free.queue + (room ? more : 0) }),
  });
  yield* useSome(trial, free, history);
  for (const policy of [free, pro, free]) {
    yield* one(trial, policy, 1);
    const [small, large] = [yield* look(trial, free), yield* look(trial, pro)];
    // Full tiers tell nothing, and an emptier one may be cut off at 0.
    if (small.remaining === 0 || large.resetMs === 0 || small.resetMs === 0) continue;
    const used = (outcome: Outcome) => outcome.limit - outcome.remaining;
    expectSame(used(large), used(small), "what is used under another tier");
  }
};

const usedAtTheSwitch: LawBody<ChangingHistory> = function* (trial, history) {
  const [old, changed] = versionsOf(trial, history);
  yield* useSome(trial, old, history);
  const before = yield* look(trial, old);
  const after = yield* look(trial, changed);
  const capacity = capacityOf(changed);
  if (history.rule === "reset" || before.resetMs === 0) {
    expectSame([after.remaining, after.resetMs], [capacity, 0], "an untouched state");
    return;
  }
  if (old.algorithm === "leaky-bucket" && changed.algorithm === "leaky-bucket") {
    expectLessOrEqual(after.resetMs, before.resetMs, "the wait for the next free slot");
    const cut = after.remaining === 0 && after.resetMs < before.resetMs;
    if (!cut) expectSame(after.resetMs, before.resetMs, "the wait for the next free slot");
    return;
  }
  const same = old.algorithm === changed.algorithm && old.windowMs === changed.windowMs;
  if (same && history.rule === "keep") return;
  const used = BigInt(before.limit - before.remaining);
  const units =
    history.rule === "scale"
      ? (used * BigInt(capacity) + BigInt(before.limit) - 1n) / BigInt(before.limit)
      : used;
  const left = BigInt(capacity) - units;
  expectSame(after.remaining, Number(left > 0n ? left : 0n), "what is left after the switch");
};

const honestAfterSwitch: LawBody<ChangingHistory> = function* (trial, history) {
  const [old, changed] = versionsOf(trial, history);
  yield* useSome(trial, old, history);
  const { remaining } = yield* look(trial, changed);
  const cost = Math.min(capacityOf(changed), remaining + 1);
  const refused = yield* one(trial, changed, cost);
  if (refused.allowed) return;
  const { now } = trial;
  trial.clock.set(now + refused.retryAfterMs - 1);
  expectSame((yield* look(trial, changed, cost)).allowed, false, "one millisecond too early");
  trial.clock.set(now + refused.retryAfterMs);
  expectSame((yield* one(trial, changed, cost)).allowed, true, "at the promised instant");
};

const versionsGoUp: LawBody<ChangingHistory> = function* (trial, history) {
  const [old, changed] = versionsOf(trial, history);
  yield* useSome(trial, changed, history);
  if ((yield* look(trial, changed)).resetMs === 0) return;
  // The old version goes on with the state, which is no reason to migrate it again.
  if ((yield* look(trial, old)).remaining > 0) yield* one(trial, old, 1);
  const before = yield* look(trial, old);
  const after = yield* look(trial, changed);
  if (before.resetMs > 0 && old.algorithm !== changed.algorithm)
    expectThat(
      after.resetMs > 0,
      "a state that the newer version has written was reset by it again",
    );
};

const twoVersions: LawBody<ChangingHistory> = function* (trial, history) {
  const windowMs = 1_000_000;
  const limits = [1 + (history.share % 20), 1 + (history.steps.length % 20)];
  const [first, second] = [history.policy, history.other].map(
    (input) => (input as Pick<Policy, "algorithm">).algorithm,
  ) as [Policy["algorithm"], Policy["algorithm"]];
  // Of two queues the next free slot keeps its instant, not the number of those who wait.
  const queues = first === "leaky-bucket" && second === "leaky-bucket";
  const algorithms = [first, queues ? "token-bucket" : second];
  const [old, changed] = limits.map((limit, index) =>
    trial.named("pair", {
      algorithm: algorithms[index],
      limit,
      windowMs,
      version: index + 1,
      migrate: history.rule,
      ...(algorithms[index] === "leaky-bucket" && { queue: limit - 1, maxDelayMs: windowMs }),
    }),
  ) as [Policy, Policy];
  trial.clock.set(trial.now - (trial.now % windowMs) + windowMs);
  let admitted = 0;
  for (const [, cost, pick] of [...history.steps, ...history.steps]) {
    const policy = pick % 2 === 0 ? old : changed;
    const units = 1 + (cost % 4);
    if ((yield* one(trial, policy, units)).allowed) admitted += units;
  }
  const most = Math.max(...limits);
  const bound = history.rule === "keep" ? most : old.limit + most;
  expectLessOrEqual(admitted, bound, "what two versions admit in one window");
};

const partRefund: LawBody<ChangingHistory> = function* (trial, history) {
  const policy = trial.named("parted", history.policy);
  const twin = trial.named("twin", history.policy);
  const capacity = capacityOf(policy);
  const cost = 1 + (history.share % capacity);
  const part = 1 + (history.steps.length % cost);
  const { receipt } = yield* one(trial, policy, cost);
  if (receipt === undefined) throw new Error("an admitted charge has a receipt");
  yield* trial.refund({ ...receipt, part });
  yield* one(trial, twin, cost - part);
  const [left, expected] = [yield* look(trial, policy, 1), yield* look(trial, twin, 1)];
  expectSameAnswer(answerOf(left), answerOf(expected), "what is left of a charge");
};

const settledCost: LawBody<ChangingHistory> = function* (trial, history) {
  const debt = history.share % 50;
  // At the largest numbers there is no room for any debt.
  const { limit, burst = 0, queue = 0, windowMs } = history.policy as Record<string, number>;
  if (Math.max(limit as number, burst, queue, windowMs as number) > 2 ** 20) return;
  const policy = trial.named("indebted", { ...history.policy, debt });
  yield* useSome(trial, policy, history);
  const asked = 1 + ((history.share * 7) % (2 * capacityOf(policy) + debt));
  const before = yield* look(trial, policy);
  const [settled] = yield* trial.apply([{ policy, subject: "a", cost: asked }], "settle");
  const { cost, allowed } = settled as Outcome;
  expectSame(allowed, cost === asked, "whether all of it was taken");
  expectSame(cost, Math.min(asked, before.remaining + debt), "what was taken");
  const after = yield* look(trial, policy);
  expectSame(after.remaining, Math.max(0, before.remaining - cost), "what is left");
  const again = yield* trial.apply([{ policy, subject: "a", cost: 2 ** 30 }], "settle");
  const total = cost + (again[0] as Outcome).cost;
  expectLessOrEqual(total, before.remaining + debt, "what can be taken in all");
};

const bans: LawBody<ChangingHistory> = function* (trial, { policy: input, steps, share }) {
  const after = 1 + (share % 4);
  const [withinMs, banMs] = [1 + share * 7, 1 + share * 11];
  const policy = trial.named("banning", { ...input, penalty: { after, withinMs, banMs } });
  const plain = trial.named("plain", input);
  let strikes = 0;
  let [sinceMs, untilMs] = [0, 0];
  for (const [advance, cost, pick] of steps) {
    trial.clock.set(trial.now + (advance > 8 ? pick % (2 * banMs) : advance));
    const { now } = trial;
    const units = pick % 3 === 0 ? capacityOf(policy) + 1 : cost;
    const banned = now < untilMs;
    // Who is banned already comes no nearer to the next ban.
    if (banned && pick % 5 === 0) yield* answered(trial.store.bans.strike(policy, "a"));
    const met = yield* look(trial, plain, units);
    if (!met.allowed && !banned) {
      if (strikes === 0 || now >= sinceMs + withinMs) [strikes, sinceMs] = [0, now];
      strikes += 1;
      if (strikes === after) [strikes, untilMs] = [0, now + banMs];
    }
    const outcome = yield* one(trial, policy, units);
    if (!banned) yield* one(trial, plain, units);
    else if (units === 0) expectSame(outcome.allowed, true, "a look under a ban");
    const expected = units === 0 || (met.allowed && !banned);
    expectSame(outcome.allowed, expected, "the verdict");
    expectSame(outcome.banMs, Math.max(0, untilMs - now), "the rest of the ban");
    if (!outcome.allowed)
      expectSame(
        outcome.retryAfterMs,
        Math.max(met.allowed ? 0 : met.retryAfterMs, untilMs - now),
        "the wait",
      );
  }
};

const strikesAreApart: LawBody<ChangingHistory> = function* (trial, history) {
  const penalty = { on: "failures", after: 1_000, within: "1h", ban: "1h" };
  const policy = trial.named("struck", { ...history.policy, penalty });
  yield* useSome(trial, policy, history);
  const before = yield* look(trial, policy, 1);
  yield* answered(trial.store.bans.strike(policy, "a"));
  expectSameAnswer(answerOf(yield* look(trial, policy, 1)), answerOf(before), "after a strike");
  yield* answered(trial.store.bans.set(policy, "a", 1_000));
  expectSame((yield* look(trial, policy, 1)).banMs, 1_000, "the ban");
  yield* answered(trial.store.bans.set(policy, "a", 0));
  expectSameAnswer(answerOf(yield* look(trial, policy, 1)), answerOf(before), "after the ban");
};

const shadowHasNoSay: LawBody<ChangingHistory> = function* (trial, history) {
  const policy = trial.named("enforced", history.policy);
  const alone = trial.named("alone", history.policy);
  const shadow = trial.named("shadow", { ...history.other, shadow: true });
  const twin = trial.named("twin", history.other);
  for (const move of trial.walk(history)) {
    const charges = [shadow, policy].map((of) => ({ policy: of, subject: "a", cost: move.cost }));
    const [silent, enforced] = yield* trial.apply(charges, move.mode);
    const [expected] = yield* trial.apply(
      [{ policy: alone, subject: "a", cost: move.cost }],
      move.mode,
    );
    expectSameAnswer(answerOf(enforced as Outcome), answerOf(expected as Outcome), "the verdict");
    // It is charged where both admit, and else only looked at.
    const mode = (enforced as Outcome).allowed ? move.mode : "peek";
    const [own] = yield* trial.apply([{ policy: twin, subject: "a", cost: move.cost }], mode);
    expectSameAnswer(answerOf(silent as Outcome), answerOf(own as Outcome), "the shadow's answer");
  }
};

function expectLessOrEqual(value: number, most: number, what: string): void {
  expectThat(value <= most, () => `${what}: got ${value}, at most ${most} expected`);
}
