import { definePolicy } from "../../policy/define.js";
import type { Policy } from "../../policy/policy.js";
import type { ChargeReceipt, Outcome, Store } from "../../store/store.js";
import { expectSame } from "../expectation.js";
import { onFreshStore, type StoreCase } from "../store-under-test.js";

/** A file of worked examples, such as those published as `@headgate/core/vectors/*`. */
interface Vectors {
  readonly cases: readonly VectorCase[];
}

interface VectorCase {
  readonly policy?: Readonly<Record<string, unknown>>;
  readonly policies?: readonly Readonly<Record<string, unknown>>[];
  readonly steps: readonly VectorStep[];
}

interface VectorStep {
  readonly at: number;
  readonly cost?: number;
  /** The step whose charge is given back, perhaps not for the first time. */
  readonly refund?: number;
  readonly expect: Expected & { readonly outcomes?: readonly Expected[] };
}

interface Expected {
  readonly allowed?: boolean;
  readonly retryAfterMs?: number | null;
  readonly remaining?: number;
  readonly resetMs?: number;
  readonly delayMs?: number;
}

const longestHoldMs = 2 ** 31 - 1;

/** A case for each example of a vector file: every number of every step, exactly. */
export function vectorCases(name: string, vectors: unknown): readonly StoreCase[] {
  return (vectors as Vectors).cases.map((example, index) => ({
    name: `answers each step of ${name} ${index + 1} exactly`,
    run: (openStore) =>
      onFreshStore(openStore, async (store, clock) => {
        const replay = new Replay(store, example);
        for (const [number, step] of example.steps.entries()) {
          clock.set(step.at);
          await replay.take(step, `${name} ${index + 1}, step ${number + 1}`);
        }
      }),
  }));
}

class Replay {
  readonly #store: Store;
  readonly #policies: readonly Policy[];
  readonly #receipts: (ChargeReceipt | undefined)[] = [];

  constructor(store: Store, example: VectorCase) {
    this.#store = store;
    const inputs = example.policies ?? [example.policy ?? {}];
    this.#policies = inputs.map((input, index) =>
      definePolicy(`policy${index + 1}`, {
        ...input,
        ...(input.algorithm === "leaky-bucket" ? { maxDelayMs: longestHoldMs } : {}),
      }),
    );
  }

  async take(step: VectorStep, what: string): Promise<void> {
    const outcomes =
      step.refund === undefined
        ? await this.#apply(step.cost ?? 0, "commit")
        : await this.#refund(step.refund);
    this.#receipts.push(step.refund === undefined ? outcomes[0]?.receipt : undefined);
    const expected = step.expect.outcomes ?? [step.expect];
    for (const [index, outcome] of outcomes.entries()) {
      expectMatch(outcome, expected[index] as Expected, `${what}, policy ${index + 1}`);
    }
    if (step.expect.outcomes === undefined) return;
    const waits = outcomes.map(({ allowed, retryAfterMs }) => (allowed ? 0 : retryAfterMs));
    const whole = { allowed: waits.every((wait) => wait === 0), retryAfterMs: Math.max(...waits) };
    expectMatch(whole, { ...step.expect }, what);
  }

  async #apply(cost: number, mode: "commit" | "peek"): Promise<readonly Outcome[]> {
    return await this.#store.apply(
      this.#policies.map((policy) => ({ policy, subject: "client", cost })),
      mode,
    );
  }

  // A receipt is used once: giving it back again is for its holder to refuse, and changes nothing.
  async #refund(step: number): Promise<readonly Outcome[]> {
    const receipt = this.#receipts[step];
    this.#receipts[step] = undefined;
    if (receipt !== undefined) await this.#store.refund([receipt]);
    return await this.#apply(0, "peek");
  }
}

function expectMatch(actual: Partial<Outcome>, expected: Expected, what: string): void {
  for (const field of ["allowed", "retryAfterMs", "remaining", "resetMs", "delayMs"] as const) {
    const wanted = expected[field];
    if (wanted !== undefined) expectSame(actual[field], wanted ?? Infinity, `${what}: ${field}`);
  }
}
