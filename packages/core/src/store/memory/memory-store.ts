import { type AlgorithmTable, algorithms } from "../../algorithms/index.js";
import { type Clock, checkClock, type Millis, readClock, systemClock } from "../../clock.js";
import { checkOptions, invalidOption } from "../../errors.js";
import { extensionFor, type MemoryBans } from "../../extension.js";
import { capacityOf } from "../../policy/capacity.js";
import type { Policy } from "../../policy/policy.js";
import { rejectRepeats } from "../batch.js";
import type { ApplyMode, Charge, ChargeReceipt, Outcome, SyncStore } from "../store.js";
import { Housekeeper } from "./housekeeper.js";
import { Tables } from "./tables.js";

export interface MemoryStoreOptions {
  /**
   * Where the time comes from.
   * @default systemClock, the process's monotonic clock
   */
  readonly clock?: Clock;
  /**
   * The most keys (a policy's subject is one) that are ever held, from 1 to 16,000,000.
   * @default 1000000
   */
  readonly maxKeys?: number;
}

/** The embedded store: counts in this process, at once, without a timer. */
export interface MemoryStore extends SyncStore {
  /** Keys held now, some of them perhaps expired and not yet swept. */
  readonly size: number;
}

/**
 * Makes an embedded store.
 *
 * It never holds more than `maxKeys` keys. Each charge sweeps a few expired ones away; where that is not
 * enough, a new key takes the place of the one that is missed least among 16 picked at random: an
 * expired one, else the one with most of its allowance left, and a refused one only among 16 refused.
 *
 * @throws HeadgateError `INVALID_OPTION` for a wrong or unknown option
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  return new EmbeddedStore(options, algorithms);
}

/** The embedded store over a table of algorithms of the caller's own: for tests of the laws on faulty ones. */
export function memoryStoreOver(table: AlgorithmTable, options: MemoryStoreOptions): MemoryStore {
  return new EmbeddedStore(options, table);
}

/** One call of `apply`. */
interface Call {
  readonly now: Millis;
  readonly mode: ApplyMode;
  readonly wantNext: boolean;
  /** Whether states that are found in another form are to be left converted. */
  readonly write: boolean;
}

// A Map holds 2^24 entries at most.
const mostKeys = 16_000_000;

class EmbeddedStore implements MemoryStore {
  readonly kind = "sync";
  readonly #clock: Clock;
  readonly #housekeeper: Housekeeper;
  readonly #tables: Tables;
  #bans: MemoryBans | undefined;

  constructor(options: MemoryStoreOptions, table: AlgorithmTable) {
    checkOptions("memoryStore", options, ["clock", "maxKeys"]);
    const { clock = systemClock, maxKeys = 1_000_000 } = options;
    checkClock("memoryStore", clock);
    if (!(Number.isInteger(maxKeys) && maxKeys >= 1 && maxKeys <= mostKeys)) {
      throw invalidOption(
        "memoryStore",
        `maxKeys must be an integer from 1 to ${mostKeys}`,
        maxKeys,
      );
    }
    this.#clock = clock;
    this.#housekeeper = new Housekeeper(maxKeys);
    this.#tables = new Tables(table, this.#housekeeper);
  }

  get size(): number {
    return this.#housekeeper.size;
  }

  apply(batch: readonly Charge[], mode: ApplyMode, wantNext = false): readonly Outcome[] {
    const now = readClock(this.#clock);
    if (mode !== "peek") this.#housekeeper.sweep(now);
    const call = { now, mode, wantNext, write: mode !== "peek" };
    const first = batch[0];
    if (batch.length === 1 && first !== undefined) {
      const outcome = this.#decide(first, call);
      return [outcome.allowed || mode !== "commit" ? outcome : this.#struck(first, outcome, call)];
    }
    rejectRepeats(batch);
    if (mode === "settle") return batch.map((charge) => this.#decide(charge, call));
    // Without a trace: a state that is converted twice may have expired in between, and its version with it.
    const look = { now, mode: "peek", wantNext, write: false } as const;
    const looks = batch.map((charge) => this.#decide(charge, look));
    if (mode === "peek") return looks;
    const refused = looks.some(({ allowed, policy }) => !allowed && !policy.shadow);
    return batch.map((charge, index) => {
      const met = looks[index] as Outcome;
      if (met.allowed && !refused) return this.#decide(charge, call);
      this.#tables.find(charge.policy, charge.subject, now, true);
      return met.allowed || (refused && charge.policy.shadow)
        ? met
        : this.#struck(charge, met, call);
    });
  }

  refund(receipts: readonly ChargeReceipt[]): void {
    const now = readClock(this.#clock);
    for (const receipt of receipts) extensionFor("refund").refund(this.#tables, receipt, now);
  }

  reset(policy: Policy, subject: string, keepBan = false): void {
    this.#tables.forget(policy.name, subject);
    if (policy.penalty !== undefined) this.bans.forget(policy, subject, keepBan);
  }

  get bans(): MemoryBans {
    this.#bans ??= extensionFor("bans").memoryBans(this.#tables, this.#clock);
    return this.#bans;
  }

  #decide(charge: Charge, call: Call): Outcome {
    const { now, mode, wantNext, write } = call;
    const { policy, subject } = charge;
    const entry = this.#tables.find(policy, subject, now, write);
    const { table } = entry;
    const { algorithm } = table;
    let { state } = entry;
    const settles = mode === "settle";
    const cost = settles ? extensionFor(mode).room(charge, entry, now) : charge.cost;
    const bans = policy.penalty === undefined ? undefined : this.bans;
    const banned = bans !== undefined && bans.endsInMs(policy, subject, now) > 0;
    const met = algorithm.measure(policy, state, now, cost);
    const limit = capacityOf(policy);
    let after = met;
    let receipt: ChargeReceipt | undefined;
    if (cost > 0 && (settles || (mode === "commit" && met.allowed && !banned))) {
      state ??= table.untouched();
      const { at, mark } = algorithm.spend(policy, state, now, cost);
      receipt = { policy, subject, cost, at, mark };
      after = algorithm.measure(policy, state, now, 0);
    }
    const { remaining, resetMs } = after;
    const nextMs =
      wantNext && remaining < limit
        ? algorithm.measure(policy, state, now, remaining + 1).retryAfterMs
        : undefined;
    // Last, because making room for a new key may load other states.
    if (receipt !== undefined) this.#tables.keep(entry, state, subject, now);
    const outcome: Outcome = {
      policy,
      cost,
      allowed: settles ? cost === charge.cost : met.allowed,
      limit,
      remaining,
      retryAfterMs: settles ? 0 : met.retryAfterMs,
      nextMs,
      resetMs,
      banMs: 0,
      delayMs: settles ? 0 : met.delayMs,
      receipt,
    };
    return banned ? (bans as MemoryBans).told(outcome, subject, call) : outcome;
  }

  /** Counts a refusal towards the policy's penalty, where it has one. */
  #struck({ policy, subject }: Charge, outcome: Outcome, call: Call): Outcome {
    return policy.penalty === undefined ? outcome : this.bans.struck(outcome, subject, call);
  }
}
