import type { Clock, Millis } from "../clock.js";
import { HeadgateError } from "../errors.js";
import type { ApplyMode, AsyncStore, Charge, Outcome, Store } from "../store/store.js";
import { Breaker } from "./breaker.js";
import { outcomesOf } from "./reply.js";

// One breaker for a store, however many limiters share it.
const breakers = new WeakMap<AsyncStore, Breaker>();

/** Bounds what an asynchronous store can cost a request: one deadline for the whole batch, and a breaker. */
export class GuardedStore {
  readonly #store: AsyncStore;
  readonly #deadlineMs: Millis;
  readonly #breaker: Breaker;

  constructor(store: AsyncStore, { deadlineMs, clock }: { deadlineMs: Millis; clock: Clock }) {
    this.#store = store;
    this.#deadlineMs = deadlineMs;
    this.#breaker = breakers.get(store) ?? new Breaker(clock);
    breakers.set(store, this.#breaker);
  }

  /** Until the store is tried again; 0 while it is in use. */
  get retryInMs(): Millis {
    return this.#breaker.retryInMs;
  }

  /**
   * Applies a batch within the deadline.
   *
   * @throws HeadgateError `STORE_CIRCUIT_OPEN`, `STORE_TIMEOUT`, or what the store rejected with: one of the
   *   `STORE_` codes, but for what the application got wrong, such as `POLICY_CONFLICT`
   */
  async apply(
    batch: readonly Charge[],
    mode: ApplyMode,
    wantNext: boolean,
  ): Promise<readonly Outcome[]> {
    if (mode === "commit") {
      // Ahead of the breaker, which is to hear of answers from elsewhere alone.
      const known = this.#store.recall?.(batch, wantNext);
      if (known !== undefined) return known;
    }
    const passage = this.#breaker.enter();
    if (passage === "blocked") {
      throw new HeadgateError(
        "STORE_CIRCUIT_OPEN",
        "store: not asked while it recovers from 5 failures in a row",
      );
    }
    try {
      const reply = await withinDeadline(
        this.#store.apply(batch, mode, wantNext),
        this.#deadlineMs,
      );
      const outcomes = outcomesOf(reply, batch);
      this.#breaker.leave(passage, false);
      return outcomes;
    } catch (thrown) {
      const error = storeError(thrown);
      // A key at fault says nothing about the store: it answered.
      const failed = isStoreFailure(error) ? error.code !== "STORE_KEY_FAILURE" : undefined;
      this.#breaker.leave(passage, failed);
      throw error;
    }
  }

  /**
   * Asks the store something else within the deadline.
   *
   * @throws HeadgateError as `apply` does
   */
  async ask<T>(call: (store: Store) => T | Promise<T>): Promise<T> {
    try {
      return await withinDeadline(call(this.#store), this.#deadlineMs);
    } catch (thrown) {
      throw storeError(thrown);
    }
  }
}

/** What the promise gives, or a `STORE_TIMEOUT`. A later answer is dropped without a trace. */
function withinDeadline<T>(promise: T | Promise<T>, deadlineMs: Millis): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new HeadgateError("STORE_TIMEOUT", `store: no answer within ${deadlineMs} ms`));
    }, deadlineMs);
    Promise.resolve(promise).then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error as Error);
      },
    );
  });
}

/** Whether an error is the store's own, and no mistake of the application's that the store found. */
export function isStoreFailure({ code }: HeadgateError): boolean {
  return code.startsWith("STORE_");
}

function storeError(thrown: unknown): HeadgateError {
  // By name: a store that brings its own copy of this package throws another class.
  if ((thrown as Error | null | undefined)?.name === "HeadgateError")
    return thrown as HeadgateError;
  return new HeadgateError(
    "STORE_FAILURE",
    `store: ${thrown instanceof Error ? thrown.message : "failed without an error"}`,
    {
      cause: thrown,
    },
  );
}
