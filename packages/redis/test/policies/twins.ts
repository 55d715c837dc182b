import {
  type Clock,
  createLimiter,
  type Decision,
  definePolicy,
  HeadgateError,
  type Identity,
  type Limiter,
  type Policy,
  type Store,
} from "@headgate/core";
import {
  ban,
  bans,
  conclude,
  type Ending,
  peekAll,
  refund,
  settle,
  unban,
} from "@headgate/core/policies";
import { ManualClock } from "@headgate/core/testing";
import { expect } from "vitest";
import type { SeededRandom } from "../store/random.js";

type AnyLimiter = Limiter<string, Store>;
type Book = Readonly<Record<string, Policy>>;

/** What both limiters answered to one call. */
type Answers<T> = readonly [inMemory: T, other: T];

const subjects: readonly Identity[] = [
  { user: "ann", ip: "192.0.2.1" },
  { user: "bob", ip: "192.0.2.1" },
  { user: "ann", ip: "192.0.2.2" },
];

/** Two limiters with the same policies, one in memory, that get the same random calls and must answer alike. */
export class Twins {
  readonly #random: SeededRandom;
  readonly #clock = new ManualClock(1_700_000_000_000);
  readonly #limiters: readonly [AnyLimiter, AnyLimiter];
  readonly #decisions: Answers<Decision>[] = [];
  readonly #names: readonly string[];
  #version = 1;
  #book: Book;

  /** @param openStore - the store of the limiter that is not in memory */
  constructor(random: SeededRandom, openStore: (clock: Clock) => Store) {
    this.#random = random;
    this.#names = ["a", "b", "c"].slice(0, 1 + random.integer(3));
    this.#book = this.#newBook();
    const options = { policies: this.#book, clock: this.#clock, deadlineMs: 10_000 };
    this.#limiters = [
      createLimiter(options),
      createLimiter({ ...options, store: openStore(this.#clock) }),
    ];
  }

  /** One call of any kind; then time goes on. */
  async turn(): Promise<void> {
    const random = this.#random;
    const calls = [
      () => this.#check(),
      () => this.#check(),
      () => this.#check(),
      () => this.#onDecision((limiter, decision) => refund(limiter, decision)),
      () => this.#settle(),
      () => this.#conclude(),
      () => this.#look(),
      () => this.#operate(),
      () => (random.integer(3) === 0 ? this.#replace() : this.#check()),
    ];
    await random.pick(calls)();
    this.#clock.advance(random.pick([0, 0, 1, 10, 333, 1_000, 1_000, 3_000, 60_000]));
  }

  /** A check; who is refused waits as long as was promised, and must then be admitted. */
  async #check(): Promise<void> {
    const random = this.#random;
    const names = random.integer(3) === 0 ? [random.pick(this.#names)] : this.#names;
    const hasTiers = names.every((name) => this.#book[name]?.tiers !== undefined);
    const options = {
      ...(random.integer(3) === 0 ? { cost: 1 + random.integer(3) } : {}),
      ...(hasTiers && random.integer(2) === 0 ? { tier: "pro" } : {}),
    };
    const identity = random.pick(subjects);
    const ask = () => this.#both((limiter) => limiter.check(names, identity, options));
    const answers = await ask();
    if (answers === undefined) return;
    this.#decisions.push(answers);
    const [{ allowed, retryAfterMs }] = answers;
    if (allowed || retryAfterMs === Infinity) return;
    this.#clock.advance(retryAfterMs);
    const again = (await ask()) as Answers<Decision>;
    expect(again[0].allowed, this.#told("after the promised wait")).toBe(true);
    this.#decisions.push(again);
  }

  async #settle(): Promise<void> {
    const cost = this.#random.integer(8);
    await this.#onDecision((limiter, decision) => settle(limiter, decision, cost));
  }

  async #conclude(): Promise<void> {
    const ending = this.#random.pick<Ending>(["success", "failure", "abandoned"]);
    await this.#onDecision((limiter, decision) => conclude(limiter, decision, ending));
  }

  async #look(): Promise<void> {
    const identity = this.#random.pick(subjects);
    await this.#both((limiter) => peekAll(limiter, identity));
    await this.#both(async (limiter) =>
      [...(await bans(limiter))].sort((a, b) => keyOf(a).localeCompare(keyOf(b))),
    );
  }

  async #operate(): Promise<void> {
    const name = this.#random.pick(this.#names);
    const identity = this.#random.pick(subjects);
    const forMs = this.#random.pick([1, 300, 5_000]);
    if (this.#book[name]?.penalty === undefined)
      await this.#both((limiter) => limiter.reset(name, identity));
    else if (this.#random.integer(2) === 0)
      await this.#both((limiter) => ban(limiter, name, { identity, forMs }));
    else await this.#both((limiter) => unban(limiter, name, identity));
  }

  async #replace(): Promise<void> {
    this.#version += 1;
    this.#book = this.#newBook();
    await this.#both((limiter) => limiter.replacePolicies(this.#book));
  }

  async #onDecision(call: (limiter: AnyLimiter, decision: Decision) => unknown): Promise<void> {
    if (this.#decisions.length === 0) return;
    const decisions = this.#random.pick(this.#decisions);
    await this.#both((limiter, at) => call(limiter, decisions[at] as Decision));
  }

  /** Asks both; undefined where both found the same mistake in the call. */
  async #both<T>(
    call: (limiter: AnyLimiter, at: number) => T | Promise<T>,
  ): Promise<Answers<T> | undefined> {
    const answers = await Promise.all(
      this.#limiters.map(async (limiter, at) => {
        try {
          return { answer: await call(limiter, at) };
        } catch (error) {
          if (!(error instanceof HeadgateError) || error.code.startsWith("STORE_")) throw error;
          return { mistake: error.message };
        }
      }),
    );
    const [inMemory, other] = answers;
    expect(other, this.#told(call.toString())).toStrictEqual(inMemory);
    if (inMemory === undefined || "mistake" in inMemory) return undefined;
    return answers.map(({ answer }) => answer) as unknown as Answers<T>;
  }

  #newBook(): Book {
    return Object.fromEntries(this.#names.map((name) => [name, this.#newPolicy(name)]));
  }

  #newPolicy(name: string): Policy {
    const random = this.#random;
    const algorithm = random.pick<Policy["algorithm"]>([
      "fixed-window",
      "sliding-window",
      "sliding-window-counter",
      "token-bucket",
      "leaky-bucket",
    ]);
    const some = <T extends object>(field: T): T | object => (random.integer(3) === 0 ? field : {});
    const queue = algorithm === "leaky-bucket" ? { queue: random.integer(4) } : {};
    const count = random.pick(["all", "all", "failures", "successes"] as const);
    return definePolicy(name, {
      algorithm,
      limit: 1 + random.integer(8),
      windowMs: random.pick([1_000, 3_000, 60_000]),
      by: random.pick(["user", "ip", ["user", "ip"], "global"] as const),
      count,
      version: this.#version,
      migrate: random.pick(["keep", "scale", "reset"] as const),
      ...queue,
      ...(algorithm === "leaky-bucket" ? { maxDelayMs: 3_600_000 } : {}),
      ...(count === "failures" ? some({ onSuccess: "clear" }) : {}),
      ...some({ shadow: true }),
      ...some({ debt: random.integer(5) }),
      ...some({
        penalty: {
          on: random.pick(["refusals", "failures"] as const),
          after: 1 + random.integer(3),
          withinMs: 5_000,
          banMs: random.pick([500, 4_000]),
        },
      }),
      ...some({ tiers: { pro: { limit: 1 + random.integer(12), ...queue } } }),
    });
  }

  #told(what: string): string {
    return `seed ${this.#random.seed}, at ${this.#clock.now()}: ${what}`;
  }
}

function keyOf({ policyName, subject }: { policyName: string; subject: string }): string {
  return `${policyName} ${subject}`;
}
