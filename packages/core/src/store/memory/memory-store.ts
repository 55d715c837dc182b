import type { Measure } from "../../algorithms/algorithm.js";
import { type AlgorithmTable, algorithms } from "../../algorithms/index.js";
import { type Clock, checkClock, type Millis, readClock, systemClock } from "../../clock.js";
import { checkOptions, HeadgateError, invalidOption } from "../../errors.js";
import type { Policy } from "../../policy/policy.js";
import { policyConflict, samePolicy } from "../policy-names.js";
import type { ApplyMode, Charge, ChargeReceipt, Outcome, SyncStore } from "../store.js";
import { Housekeeper } from "./housekeeper.js";
import { PolicyTable } from "./policy-table.js";

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

// A Map holds 2^24 entries at most.
const mostKeys = 16_000_000;

class EmbeddedStore implements MemoryStore {
  readonly kind = "sync";
  readonly #clock: Clock;
  readonly #algorithms: AlgorithmTable;
  readonly #tables = new Map<string, PolicyTable>();
  readonly #housekeeper: Housekeeper;
  #latest: PolicyTable | undefined;

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
    this.#algorithms = table;
    this.#housekeeper = new Housekeeper(maxKeys);
  }

  get size(): number {
    return this.#housekeeper.size;
  }

  apply(batch: readonly Charge[], mode: ApplyMode, wantNext = false): readonly Outcome[] {
    const now = readClock(this.#clock);
    if (mode === "commit") this.#housekeeper.sweep(now, batch.length);
    const asked = { commit: mode === "commit", wantNext };
    const [first] = batch;
    if (batch.length === 1 && first !== undefined) return [this.#decide(first, now, asked)];
    rejectRepeats(batch);
    const looks = batch.map((charge) => this.#decide(charge, now, { commit: false, wantNext }));
    if (mode === "peek" || looks.some((outcome) => !outcome.allowed)) return looks;
    return batch.map((charge) => this.#decide(charge, now, asked));
  }

  refund(receipts: readonly ChargeReceipt[]): void {
    const now = readClock(this.#clock);
    for (const receipt of receipts) {
      const table = this.#tableOf(receipt.policy);
      const slot = table.slotOf(receipt.subject);
      if (slot === undefined) continue;
      const state = table.load(slot);
      table.algorithm.refund(receipt.policy, state, receipt, now);
      if (table.algorithm.expiresAt(receipt.policy, state) <= now)
        this.#housekeeper.remove(table, slot);
      else table.save(slot, state);
    }
  }

  reset(policy: Policy, subject: string): void {
    const table = this.#tableOf(policy);
    const slot = table.slotOf(subject);
    if (slot !== undefined) this.#housekeeper.remove(table, slot);
  }

  #decide(
    charge: Charge,
    now: Millis,
    { commit, wantNext }: { commit: boolean; wantNext: boolean },
  ): Outcome {
    const { policy, subject, cost } = charge;
    const table = this.#tableOf(policy);
    const slot = table.slotOf(subject);
    const state = slot === undefined ? undefined : table.load(slot);
    const measure = table.algorithm.measure(policy, state, now, cost);
    let after = measure;
    let receipt: ChargeReceipt | undefined;
    let spent = state;
    if (commit && measure.allowed && cost > 0) {
      spent = state ?? table.untouched();
      const { at, mark } = table.algorithm.spend(policy, spent, now, cost);
      receipt = { policy, subject, cost, at, mark };
      after = table.algorithm.measure(policy, spent, now, 0);
    }
    const nextMs = wantNext
      ? waitForMore(table, { state: spent, now, remaining: after.remaining })
      : undefined;
    // Last, because making room for a new key may load other states.
    if (receipt !== undefined) {
      if (slot === undefined) this.#housekeeper.add(table, { subject, state: spent, now });
      else table.save(slot, spent);
    }
    return outcomeOf(charge, measure, { table, after, nextMs, receipt });
  }

  #tableOf(policy: Policy): PolicyTable {
    if (this.#latest?.policy === policy) return this.#latest;
    let table = this.#tables.get(policy.name);
    if (table === undefined) {
      table = new PolicyTable(policy, this.#algorithms[policy.algorithm]);
      this.#tables.set(policy.name, table);
      this.#housekeeper.watch(table);
    } else if (!samePolicy(table.policy, policy)) {
      throw policyConflict(policy.name);
    }
    this.#latest = table;
    return table;
  }
}

function outcomeOf(
  { policy, cost }: Charge,
  { allowed, retryAfterMs, delayMs }: Measure,
  {
    table,
    after,
    nextMs,
    receipt,
  }: {
    table: PolicyTable;
    after: Measure;
    nextMs: Millis | undefined;
    receipt: ChargeReceipt | undefined;
  },
): Outcome {
  const { remaining, resetMs } = after;
  return {
    policy,
    cost,
    allowed,
    limit: table.capacity,
    remaining,
    retryAfterMs,
    nextMs,
    resetMs,
    delayMs,
    receipt,
  };
}

function waitForMore(
  table: PolicyTable,
  { state, now, remaining }: { state: unknown; now: Millis; remaining: number },
): Millis | undefined {
  if (remaining >= table.capacity) return undefined;
  return table.algorithm.measure(table.policy, state, now, remaining + 1).retryAfterMs;
}

function rejectRepeats(batch: readonly Charge[]): void {
  for (const [index, { policy, subject }] of batch.entries()) {
    const repeats =
      batch.findIndex((other) => other.policy.name === policy.name && other.subject === subject) <
      index;
    if (repeats) {
      throw new HeadgateError(
        "INVALID_CHARGE",
        `policy "${policy.name}": the batch names one subject twice`,
      );
    }
  }
}
