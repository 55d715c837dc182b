import type { Millis } from "../clock.js";
import type { Policy } from "../policy/policy.js";

/** What one policy asks of one subject: the unit of work of a store. */
export interface Charge {
  readonly policy: Policy;
  /** Who is counted, as text that the limiter has made unambiguous and short. */
  readonly subject: string;
  /** An integer from 0; 0 only looks. */
  readonly cost: number;
}

/** What a charge met. Never changes once returned. Times are relative to the decision. */
export interface Outcome {
  readonly policy: Policy;
  readonly cost: number;
  readonly allowed: boolean;
  /** The policy's capacity: the largest value that `remaining` can have. */
  readonly limit: number;
  /** How many calls of cost 1 would be admitted at the same instant, after this one was counted. */
  readonly remaining: number;
  /** 0 when allowed, `Infinity` when the cost can never fit. */
  readonly retryAfterMs: Millis;
  /** Until `remaining` grows; undefined when it is the capacity, or when it was not asked for. */
  readonly nextMs: Millis | undefined;
  /** Until the subject is as good as untouched. */
  readonly resetMs: Millis;
  /** How long the request must be held before it goes on (leaky bucket). */
  readonly delayMs: Millis;
  /** What was taken, to give it back; undefined when nothing was. */
  readonly receipt: ChargeReceipt | undefined;
}

/** Names a charge that was made. A store gives back what a receipt names at most as often as it is asked to: ask once. */
export interface ChargeReceipt {
  readonly policy: Policy;
  readonly subject: string;
  readonly cost: number;
  /** The instant of the charge in the store's own time. */
  readonly at: Millis;
  /** The algorithm's own note of which part of the state was charged. */
  readonly mark: number;
}

/** `commit` charges all or nothing; `peek` reports what a commit would have met. */
export type ApplyMode = "commit" | "peek";

/**
 * Decides in this process, at once. All methods throw `HeadgateError` for a wrong clock, for a policy and
 * subject named twice in one batch, and for one policy name with two different policies.
 */
export interface SyncStore {
  readonly kind: "sync";
  /**
   * Decides a batch at one instant: all charges are measured, then all are made, or none when one is refused.
   *
   * @param wantNext - fill in `nextMs`, which costs another look
   * @returns an outcome for each charge, in order
   */
  apply(batch: readonly Charge[], mode: ApplyMode, wantNext?: boolean): readonly Outcome[];
  /** Gives back what the receipts name, as far as it still counts; never below nothing used, never creating a key. */
  refund(receipts: readonly ChargeReceipt[]): void;
  /** Makes a subject untouched under one policy. */
  reset(policy: Policy, subject: string): void;
}

/**
 * Decides elsewhere. The methods are those of `SyncStore`, as promises that reject with `HeadgateError`:
 * `STORE_KEY_FAILURE` when one key is at fault, `STORE_FAILURE` when the store is. With these a request follows
 * its policies' failure modes; the errors that `SyncStore` names are the application's, and thrown.
 */
export interface AsyncStore {
  readonly kind: "async";
  /** Whether a batch over several subjects is one atomic step, or one for each slot of a cluster. */
  readonly atomicity: "request" | "slot";
  apply(batch: readonly Charge[], mode: ApplyMode, wantNext?: boolean): Promise<readonly Outcome[]>;
  /**
   * The refusal of a whole batch that the store is sure of without asking elsewhere, if it remembers any. It
   * holds while the store fails as well, and says nothing of whether it does.
   */
  recall?(batch: readonly Charge[], wantNext?: boolean): readonly Outcome[] | undefined;
  refund(receipts: readonly ChargeReceipt[]): Promise<void>;
  reset(policy: Policy, subject: string): Promise<void>;
  /** Closes what the store itself opened. */
  close(): Promise<void>;
}

export type Store = SyncStore | AsyncStore;
