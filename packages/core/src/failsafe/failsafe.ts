import { type Decision, decisionOf } from "../decision/decision.js";
import type { HeadgateError } from "../errors.js";
import type {
  ApplyMode,
  AsyncStore,
  Charge,
  FailsafeOptions,
  SafeStore,
  Store,
} from "../store/store.js";
import { DegradedLimits } from "./degraded.js";
import { GuardedStore, isStoreFailure } from "./guarded-store.js";
import { StoreErrorReport } from "./store-error-report.js";

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

  constructor(store: AsyncStore, { deadlineMs, clock, onStoreError }: FailsafeOptions) {
    this.#guarded = new GuardedStore(store, { deadlineMs, clock });
    this.#degraded = new DegradedLimits(clock);
    this.#report = new StoreErrorReport(clock, onStoreError);
  }

  async decide(batch: readonly Charge[], mode: ApplyMode, wantNext: boolean): Promise<Decision> {
    try {
      return decisionOf(await this.#guarded.apply(batch, mode, wantNext));
    } catch (thrown) {
      const error = thrown as HeadgateError;
      if (!isStoreFailure(error)) throw error;
      this.#report.add(error);
      const { retryInMs } = this.#guarded;
      return this.#degraded.decide(batch, { mode, wantNext, retryInMs });
    }
  }

  ask<T>(call: (store: Store) => T | Promise<T>, degraded: boolean): Promise<T> {
    if (degraded) return Promise.resolve(call(this.#degraded.store));
    return this.#guarded.ask(call);
  }

  report(error: HeadgateError): void {
    this.#report.add(error);
  }
}
