import type { Clock } from "../../src/clock.js";
import { failsafe } from "../../src/failsafe/index.js";
import type { Policy } from "../../src/policy/policy.js";
import { memoryStore } from "../../src/store/memory/memory-store.js";
import type {
  ApplyMode,
  AsyncStore,
  Charge,
  ChargeReceipt,
  Outcome,
} from "../../src/store/store.js";

/** What a fake store does when it is asked. */
export type Behaviour = (batch: readonly Charge[], mode: ApplyMode) => unknown;

/** An asynchronous store that counts in memory while it is well, and does whatever a test wants else. */
export class FakeStore implements AsyncStore {
  readonly kind = "async";
  readonly atomicity = "request";
  readonly failsafe = failsafe;
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

  async refund(receipts: readonly ChargeReceipt[]): Promise<void> {
    this.#inner.refund(receipts);
  }

  reset(policy: Policy, subject: string, keepBan?: boolean): Promise<void> {
    this.#inner.reset(policy, subject, keepBan);
    return this.behaviour([], "commit") as Promise<never>;
  }

  readonly bans: AsyncStore["bans"] = {
    strike: async (policy, subject) => this.#inner.bans.strike(policy, subject),
    set: async (policy, subject, forMs) => this.#inner.bans.set(policy, subject, forMs),
    list: async (policies, most) => this.#inner.bans.list(policies, most),
  };

  async close(): Promise<void> {
    this.closed += 1;
  }
}

export const failing: Behaviour = () => Promise.reject(new Error("connection lost"));
export const silent: Behaviour = () => new Promise(() => {});
