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
import { randomCost, randomFamily } from "./policy-families.js";
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

/** The bans of a store that answers with `T`. */
interface BansOf<T> {
  strike(policy: Policy, subject: string): T;
  set(policy: Policy, subject: string, forMs: number): T;
}

/** Deals the policies of the next turns. */
export type Deal = (random: SeededRandom) => readonly Policy[];

/** Plain limits, each under a name of its own. */
export const plainPolicies: Deal = (random) =>
  Array.from({ length: 1 + random.integer(3) }, () => random.pick(policies));

/** Policies that share names, and with them states, bans, shadows and debt. */
export const policyFamilies: Deal = (random) =>
  Array.from({ length: 1 + random.integer(2) }, () => randomFamily(random)).flat();

/**
 * Plays random batches on a memory store and another store under one clock, and compares every answer.
 * The clock steps forward as it likes, and back as long as no state comes back to life by it.
 */
export class Differential {
  readonly #random: SeededRandom;
  readonly #clock = new SteppingClock(1_700_000_000_000);
  readonly #memory: MemoryStore = memoryStore({ clock: this.#clock });
  readonly #other: AsyncStore;
  readonly #deal: Deal;
  readonly #expiries = new Map<string, number>();
  /** Instants at which strikes and bans end. */
  #bansEnd: number[] = [];
  #latestExpired = 0;
  #receipts: ChargeReceipt[] = [];
  /** The policies in play: few at a time, so that their edges meet. */
  #deck: readonly Policy[];
  #turns = 0;
  /** Waits that answers of this turn promised: instants at which something changes. */
  #waits: number[] = [];
  batches = 0;

  constructor(
    random: SeededRandom,
    open: (clock: SteppingClock) => AsyncStore,
    deal: Deal = plainPolicies,
  ) {
    this.#random = random;
    this.#other = open(this.#clock);
    this.#deal = deal;
    this.#deck = deal(random);
  }

  /** Decides some batches at one instant, in one turn, and moves the clock. */
  async turn(): Promise<void> {
    const turns: Promise<void>[] = [];
    for (let count = this.#random.integer(4); count >= 0; count -= 1) turns.push(this.#act());
    await Promise.all(turns);
    this.#turns += 1;
    if (this.#turns % turnsOfDeck === 0) this.#dealAnew();
    else this.#step();
  }

  async #act(): Promise<void> {
    const kind = this.#random.integer(16);
    if (kind === 0 && this.#receipts.length > 0) return this.#refund();
    if (kind === 1 && this.#random.integer(4) === 0) return this.#reset();
    if (kind === 2) return this.#ban();
    if (kind === 3) return this.#apply(this.#batch(), "settle");
    await this.#apply(this.#batch(), kind < 7 ? "peek" : "commit");
  }

  async #apply(batch: readonly Charge[], mode: ApplyMode): Promise<void> {
    this.batches += 1;
    const what = this.#what(batch, mode);
    const wantNext = this.#random.integer(3) === 0;
    const expected = this.#memory.apply(batch, mode, wantNext);
    this.#note(batch, expected);
    const actual = await this.#other.apply(batch, mode, wantNext);
    expect(actual, what).toStrictEqual(expected);
    for (const outcome of expected) {
      if (outcome.receipt !== undefined) this.#receipts.push(outcome.receipt);
    }
  }

  async #refund(): Promise<void> {
    const reach = this.#random.pick([1, 2, 20]);
    const at = this.#random.integer(Math.min(reach, this.#receipts.length));
    const [whole] = this.#receipts.splice(this.#receipts.length - 1 - at, 1) as [ChargeReceipt];
    const parts = [{}, {}, { part: this.#random.integer(whole.cost + 1) }];
    const receipt = { ...whole, ...this.#random.pick(parts) };
    this.#memory.refund([receipt]);
    const refunded = this.#other.refund([receipt]);
    await Promise.all([refunded, this.#apply([{ ...receipt, cost: 0 }], "peek")]);
  }

  async #reset(): Promise<void> {
    const { policy, subject } = this.#batch()[0] as Charge;
    const keepBan = this.#random.integer(2) === 0;
    this.#memory.reset(policy, subject, keepBan);
    const done = this.#other.reset(policy, subject, keepBan);
    await Promise.all([done, this.#apply([{ policy, subject, cost: 0 }], "peek")]);
  }

  async #ban(): Promise<void> {
    const { policy, subject } = this.#batch()[0] as Charge;
    if (policy.penalty === undefined) return;
    const forMs = this.#random.pick([undefined, undefined, 0, 20]);
    const ask = <T>({ bans }: { bans: BansOf<T> }): T =>
      forMs === undefined ? bans.strike(policy, subject) : bans.set(policy, subject, forMs);
    ask<void>(this.#memory);
    const asked = ask<Promise<void>>(this.#other);
    this.#bansEnd.push(this.#clock.now() + (forMs ?? policy.penalty.withinMs));
    await Promise.all([asked, this.#apply([{ policy, subject, cost: 0 }], "peek")]);
  }

  #batch(): readonly Charge[] {
    const charges = new Map<string, Charge>();
    for (let count = this.#random.pick([0, 0, 0, 1, 2, 3]); count >= 0; count -= 1) {
      const policy = this.#random.pick(this.#deck);
      const subject = this.#random.pick(subjects);
      const cost = randomCost(policy, this.#random);
      charges.set(`${policy.name} ${subject}`, { policy, subject, cost });
    }
    return [...charges.values()];
  }

  #note(batch: readonly Charge[], outcomes: readonly Outcome[]): void {
    const now = this.#clock.now();
    for (const [index, { policy, subject }] of batch.entries()) {
      const { resetMs, retryAfterMs, nextMs = 0, banMs } = outcomes[index] as Outcome;
      this.#waits.push(resetMs, retryAfterMs, nextMs);
      const { penalty } = policy;
      if (penalty !== undefined) this.#bansEnd.push(now + banMs, now + penalty.withinMs);
      // One of them is what the state was written under, and tells when it expires.
      const kin = new Set(this.#deck.filter(({ name }) => name === policy.name)).add(policy);
      for (const [place, other] of [...kin].entries()) {
        const [seen] = this.#memory.apply([{ policy: other, subject, cost: 0 }], "peek");
        const expiry = now + (seen as Outcome).resetMs;
        this.#expiries.set(`${policy.name} ${subject} ${place}`, expiry);
      }
    }
  }

  #step(): void {
    const now = this.#clock.now();
    for (const expiry of this.#expiries.values()) {
      if (expiry <= now) this.#latestExpired = Math.max(this.#latestExpired, expiry);
    }
    const ended = this.#bansEnd.filter((at) => at <= now);
    this.#latestExpired = Math.max(this.#latestExpired, ...ended);
    this.#bansEnd = this.#bansEnd.filter((at) => at > now);
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

  #dealAnew(): void {
    this.#deck = this.#deal(this.#random);
    this.#step();
    this.#clock.set(this.#clock.now() + this.#random.pick([0, 7, 60_000]));
  }

  #what(batch: readonly Charge[], mode: string): string {
    const charges = batch.map(
      ({ policy, subject, cost }) => `${JSON.stringify(policy)} ${subject} ${cost}`,
    );
    return `seed ${this.#random.seed}, batch ${this.batches} at ${this.#clock.now()}: ${mode} ${charges.join(", ")}`;
  }
}
