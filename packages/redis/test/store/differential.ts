import {
  type ApplyMode,
  type AsyncStore,
  type Charge,
  type ChargeReceipt,
  definePolicy,
  type MemoryStore,
  memoryStore,
  type Outcome,
  type Policy,
} from "@headgate/core";
import { SteppingClock } from "@headgate/core/testing";
import { expect } from "vitest";
import type { SeededRandom } from "./random.js";

/** Small limits, where every boundary is met often, and the largest that are exact. */
const policies: readonly Policy[] = [
  definePolicy("fixed", { algorithm: "fixed-window", limit: 5, windowMs: 100 }),
  definePolicy("anchored", {
    algorithm: "fixed-window",
    limit: 4,
    windowMs: 70,
    anchor: "first-request",
  }),
  definePolicy("pair", { algorithm: "fixed-window", limit: 2, windowMs: 40 }),
  definePolicy("log", { algorithm: "sliding-window", limit: 6, windowMs: 150 }),
  definePolicy("long-log", { algorithm: "sliding-window", limit: 300, windowMs: 20_000 }),
  definePolicy("counter", { algorithm: "sliding-window-counter", limit: 7, windowMs: 90 }),
  definePolicy("fast-counter", { algorithm: "sliding-window-counter", limit: 20, windowMs: 3 }),
  definePolicy("bucket", { algorithm: "token-bucket", limit: 3, windowMs: 50, burst: 8 }),
  definePolicy("queue", {
    algorithm: "leaky-bucket",
    limit: 3,
    windowMs: 100,
    queue: 4,
    maxDelayMs: 60_000,
  }),
  definePolicy("huge-bucket", {
    algorithm: "token-bucket",
    limit: 3,
    windowMs: 2 ** 50 - 1,
    burst: 3,
  }),
  definePolicy("huge-log", { algorithm: "sliding-window", limit: 2, windowMs: 2 ** 51 - 1 }),
  definePolicy("huge-counter", {
    algorithm: "sliding-window-counter",
    limit: 7,
    windowMs: 2 ** 50 - 3,
  }),
];

const subjects = ["user=1", "user=2", "ip=::1&account=a"];
const turnsOfDeck = 30;

/**
 * Plays random batches on a memory store and another store under one clock, and compares every answer.
 * The clock steps forward as it likes, and back as long as no state comes back to life by it.
 */
export class Differential {
  readonly #random: SeededRandom;
  readonly #clock = new SteppingClock(1_700_000_000_000);
  readonly #memory: MemoryStore = memoryStore({ clock: this.#clock });
  readonly #other: AsyncStore;
  readonly #expiries = new Map<string, number>();
  #latestExpired = 0;
  #receipts: ChargeReceipt[] = [];
  /** The policies in play: few at a time, so that their edges meet. */
  #deck: readonly Policy[] = policies;
  #turns = 0;
  /** Waits that answers of this turn promised: instants at which something changes. */
  #waits: number[] = [];
  batches = 0;

  constructor(random: SeededRandom, open: (clock: SteppingClock) => AsyncStore) {
    this.#random = random;
    this.#other = open(this.#clock);
  }

  /** Decides some batches at one instant, in one turn, and moves the clock. */
  async turn(): Promise<void> {
    const turns: Promise<void>[] = [];
    for (let count = this.#random.integer(4); count >= 0; count -= 1) turns.push(this.#act());
    await Promise.all(turns);
    this.#turns += 1;
    if (this.#turns % turnsOfDeck === 0) this.#deal();
    else this.#step();
  }

  async #act(): Promise<void> {
    const kind = this.#random.integer(12);
    if (kind === 0 && this.#receipts.length > 0) return this.#refund();
    if (kind === 1 && this.#random.integer(4) === 0) return this.#reset();
    await this.#apply(this.#batch(), kind < 4 ? "peek" : "commit");
  }

  async #apply(batch: readonly Charge[], mode: ApplyMode): Promise<void> {
    this.batches += 1;
    const wantNext = this.#random.integer(2) === 0;
    const expected = this.#memory.apply(batch, mode, wantNext);
    const actual = await this.#other.apply(batch, mode, wantNext);
    expect(actual, this.#what(batch, mode)).toStrictEqual(expected);
    for (const outcome of expected) {
      if (outcome.receipt !== undefined) this.#receipts.push(outcome.receipt);
    }
    this.#note(batch, expected);
  }

  async #refund(): Promise<void> {
    const reach = this.#random.pick([1, 2, 20]);
    const at = this.#random.integer(Math.min(reach, this.#receipts.length));
    const [receipt] = this.#receipts.splice(this.#receipts.length - 1 - at, 1) as [ChargeReceipt];
    this.#memory.refund([receipt]);
    const refunded = this.#other.refund([receipt]);
    await this.#apply([{ ...receipt, cost: 0 }], "peek");
    await refunded;
  }

  async #reset(): Promise<void> {
    const { policy, subject } = this.#batch()[0] as Charge;
    this.#memory.reset(policy, subject);
    const done = this.#other.reset(policy, subject);
    await this.#apply([{ policy, subject, cost: 0 }], "peek");
    await done;
  }

  #batch(): readonly Charge[] {
    const charges = new Map<string, Charge>();
    for (let count = this.#random.integer(4); count >= 0; count -= 1) {
      const policy = this.#random.pick(this.#deck);
      const subject = this.#random.pick(subjects);
      charges.set(`${policy.name} ${subject}`, { policy, subject, cost: this.#random.integer(4) });
    }
    return [...charges.values()];
  }

  #note(batch: readonly Charge[], outcomes: readonly Outcome[]): void {
    for (const [index, { policy, subject }] of batch.entries()) {
      const { resetMs, retryAfterMs, nextMs = 0 } = outcomes[index] as Outcome;
      this.#waits.push(resetMs, retryAfterMs, nextMs);
      this.#expiries.set(`${policy.name} ${subject}`, this.#clock.now() + resetMs);
    }
  }

  #step(): void {
    const now = this.#clock.now();
    for (const expiry of this.#expiries.values()) {
      if (expiry <= now) this.#latestExpired = Math.max(this.#latestExpired, expiry);
    }
    const room = now - this.#latestExpired;
    const back = room > 0 && this.#random.integer(4) === 0;
    this.#clock.set(now + (back ? -this.#random.integer(Math.min(room, 200)) : this.#forward()));
    this.#waits = [];
  }

  #forward(): number {
    const policy = this.#random.pick(this.#deck);
    const { windowMs } = policy;
    const wait = this.#waits.length === 0 ? 0 : this.#random.pick(this.#waits);
    const refillMs =
      policy.algorithm === "token-bucket" ? Math.ceil((policy.burst * windowMs) / policy.limit) : 1;
    const few = [0, 0, 0, 1, 2, this.#random.integer(100), wait, wait - 1];
    const stepMs = this.#random.pick([...few, windowMs, windowMs - 1, refillMs]);
    return stepMs >= 0 && stepMs <= 30_000 ? stepMs : 1;
  }

  #deal(): void {
    const size = 1 + this.#random.integer(3);
    this.#deck = Array.from({ length: size }, () => this.#random.pick(policies));
    this.#step();
    this.#clock.set(this.#clock.now() + this.#random.pick([0, 7, 60_000]));
  }

  #what(batch: readonly Charge[], mode: string): string {
    const charges = batch.map(({ policy, subject, cost }) => `${policy.name} ${subject} ${cost}`);
    return `seed ${this.#random.seed}, batch ${this.batches} at ${this.#clock.now()}: ${mode} ${charges.join(", ")}`;
  }
}
