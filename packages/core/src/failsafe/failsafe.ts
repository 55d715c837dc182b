import { type Decision, decisionOf } from "../decision/decision.js";
import type { HeadgateError } from "../errors.js";
import type { Policy } from "../policy/policy.js";
import type {
  ApplyMode,
  AsyncStore,
  BreakerState,
  Charge,
  FailsafeOptions,
  SafeStore,
  SafeStoreEvent,
  Store,
} from "../store/store.js";
import { DegradedLimits } from "./degraded.js";
import { GuardedStore, isStoreFailure } from "./guarded-store.js";
import { StoreErrorReport } from "./store-error-report.js";
import { Watchers } from "./watchers.js";

/**
 * What an asynchronous store gives a limiter beside itself, as its member `failsafe`: a deadline, a circuit
 * breaker, and each policy's failure mode while the store is down or slow.
 */
export function failsafe(store: AsyncStore, options: FailsafeOptions): SafeStore {
  return new Failsafe(store, options);
}

class Failsafe implements SafeStore {
  readonly #guarded: GuardedStore;
  readonly #degraded: DegradedLimits;
  readonly #report: StoreErrorReport;
  readonly #watchers: Watchers = new Watchers();

  constructor(store: AsyncStore, { deadlineMs, clock, onStoreError }: FailsafeOptions) {
    this.#guarded = new GuardedStore(store, { deadlineMs, clock });
    this.#degraded = new DegradedLimits(clock);
    this.#report = new StoreErrorReport(clock, onStoreError);
  }

  async decide(batch: readonly Charge[], mode: ApplyMode, wantNext: boolean): Promise<Decision> {
    try {
      const recalled = this.#guarded.recall(batch, mode, wantNext);
      if (recalled === undefined)
        return decisionOf(await this.#guarded.apply(batch, mode, wantNext));
      const decision = decisionOf(recalled);
      this.#watchers.tell({ type: "recall", decision });
      return decision;
    } catch (thrown) {
      const error = thrown as HeadgateError;
      if (!isStoreFailure(error)) throw error;
      this.#report.add(error);
      const { retryInMs } = this.#guarded;
      const decision = this.#degraded.decide(batch, { mode, wantNext, retryInMs });
      this.#watchers.tell({ type: "failure", error, decision });
      return decision;
    }
  }

  async ask<T>(call: (store: Store) => T | Promise<T>, degraded: boolean): Promise<T> {
    if (degraded) return call(this.#degraded.store);
    try {
      return await this.#guarded.ask(call);
    } catch (thrown) {
      const error = thrown as HeadgateError;
      if (isStoreFailure(error))
        this.#watchers.tell({ type: "failure", error, decision: undefined });
      throw error;
    }
  }

  isLocal(policy: Policy): boolean {
    return this.#degraded.isLocal(policy);
  }

  get breaker(): BreakerState {
    return this.#guarded.breaker;
  }

  watch(watcher: (event: SafeStoreEvent) => unknown): () => void {
    const stops = [this.#watchers.add(watcher), this.#guarded.watch(watcher)];
    return () => {
      for (const stop of stops) stop();
    };
  }

  report(error: HeadgateError): void {
    this.#report.add(error);
  }
}
