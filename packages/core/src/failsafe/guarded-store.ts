import type { Clock, Millis } from "../clock.js";
import { HeadgateError } from "../errors.js";
import type {
  ApplyMode,
  AsyncStore,
  BreakerState,
  Charge,
  Outcome,
  SafeStoreEvent,
  Store,
} from "../store/store.js";
import { Breaker } from "./breaker.js";
import { outcomesOf } from "./reply.js";
import { afterTurns } from "./turns.js";
import { Watchers } from "./watchers.js";

// One breaker for a store, however many limiters share it.
const breakers = new WeakMap<AsyncStore, Breaker>();

/** Bounds what an asynchronous store can cost a request: one deadline for the whole batch, and a breaker. */
export class GuardedStore {
  readonly #store: AsyncStore;
  readonly #deadlineMs: Millis;
  readonly #breaker: Breaker;
  readonly #watchers: Watchers = new Watchers();

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

  get breaker(): BreakerState {
    return this.#breaker.state;
  }

  /** Tells of calls to the store and of its breaker. */
  watch(watcher: (event: SafeStoreEvent) => unknown): () => void {
    const stops = [this.#watchers, this.#breaker.watchers].map((watched) => watched.add(watcher));
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** The refusal of a batch that the store remembers: ahead of the breaker, which hears of answers from elsewhere alone. */
  recall(
    batch: readonly Charge[],
    mode: ApplyMode,
    wantNext: boolean,
  ): readonly Outcome[] | undefined {
    return mode === "commit" ? this.#store.recall?.(batch, wantNext) : undefined;
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
    const passage = this.#breaker.enter();
    if (passage === "blocked") {
      throw new HeadgateError(
        "STORE_CIRCUIT_OPEN",
        "store: not asked while it recovers from 5 failures in a row",
      );
    }
    const ended = this.#watchers.time();
    try {
      const reply = await withinDeadline(
        this.#store.apply(batch, mode, wantNext),
        this.#deadlineMs,
      );
      const outcomes = outcomesOf(reply, batch);
      ended?.(undefined);
      this.#breaker.leave(passage, false);
      return outcomes;
    } catch (thrown) {
      const error = storeError(thrown);
      ended?.(error);
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
    const ended = this.#watchers.time();
    try {
      const answer = await withinDeadline(call(this.#store), this.#deadlineMs);
      ended?.(undefined);
      return answer;
    } catch (thrown) {
      const error = storeError(thrown);
      ended?.(error);
      throw error;
    }
  }
}

/**
 * The turns of the event loop in which an answer still counts that came in time while the process was busy: one to
 * read it, and two after which a store may tell it.
 */
const turnsToHear = 3;

/** What the promise gives, or a `STORE_TIMEOUT`. A later answer is dropped without a trace. */
function withinDeadline<T>(promise: T | Promise<T>, deadlineMs: Millis): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      reject(new HeadgateError("STORE_TIMEOUT", `store: no answer within ${deadlineMs} ms`));
    };
    const timer = setTimeout(() => afterTurns(turnsToHear, giveUp), deadlineMs);
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
