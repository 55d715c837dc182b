import type { Clock } from "../../src/clock.js";
import type { Policy } from "../../src/policy/policy.js";
import { memoryStore } from "../../src/store/memory/memory-store.js";
import type { ApplyMode, AsyncStore, Charge, Outcome } from "../../src/store/store.js";

/** What a fake store does when it is asked. */
export type Behaviour = (batch: readonly Charge[], mode: ApplyMode) => unknown;

/** An asynchronous store that counts in memory while it is well, and does whatever a test wants else. */
export class FakeStore implements AsyncStore {
  readonly kind = "async";
  readonly atomicity = "request";
  /** The batches that it was asked to decide. */
  readonly batches: (readonly Charge[])[] = [];
  behaviour: Behaviour;
  readonly well: Behaviour;
  closed = 0;
  readonly #inner: ReturnType<typeof memoryStore>;

  constructor(clock: Clock) {
    this.#inner = memoryStore({ clock });
    this.well = async (batch, mode) => this.#inner.apply(batch, mode);
    this.behaviour = this.well;
  }

  apply(batch: readonly Charge[], mode: ApplyMode): Promise<readonly Outcome[]> {
    this.batches.push(batch);
    return this.behaviour(batch, mode) as Promise<readonly Outcome[]>;
  }

  async refund(): Promise<void> {}

  reset(policy: Policy, subject: string): Promise<void> {
    this.#inner.reset(policy, subject);
    return this.behaviour([], "commit") as Promise<never>;
  }

  async close(): Promise<void> {
    this.closed += 1;
  }
}

export const failing: Behaviour = () => Promise.reject(new Error("connection lost"));
export const silent: Behaviour = () => new Promise(() => {});
