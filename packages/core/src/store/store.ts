import type { Clock, Millis } from "../clock.js";
import type { Decision } from "../decision/decision.js";
import type { HeadgateError } from "../errors.js";
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
  /** Until a ban of the subject ends; 0 when there is none. */
  readonly banMs: Millis;
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
  /** How much of the cost to give back; all of it unless it says so. */
  readonly part?: number;
}

/**
 * `commit` charges all or nothing; `peek` reports what a commit would have met; `settle` charges each for
 * itself, as much as capacity and declared debt have room for, and tells what it took as the outcome's cost.
 */
export type ApplyMode = "commit" | "peek" | "settle";

/** A subject that is banned under a policy. */
export interface Ban {
  readonly policyName: string;
  readonly subject: string;
  readonly endsInMs: Millis;
}

/**
 * Decides in this process, at once. All methods throw `HeadgateError` for a wrong clock and for a policy and
 * subject named twice in one batch.
 *
 * One policy name is one state for a subject. Each charge is decided by the numbers of its own policy, which may
 * differ in limit, burst and queue; a state that was written under another algorithm, window or version is
 * converted by the rule of the policy that finds it.
 */
export interface SyncStore {
  readonly kind: "sync";
  /**
   * Decides a batch at one instant: all charges are measured, then all are made, or none when one is refused.
   * A shadow charge is made where it and all enforced ones are admitted, and refuses nothing. A refusal of a
   * policy with a penalty counts in the same step.
   *
   * @param wantNext - fill in `nextMs`, which costs another look
   * @returns an outcome for each charge, in order
   */
  apply(batch: readonly Charge[], mode: ApplyMode, wantNext?: boolean): readonly Outcome[];
  /** Gives back what the receipts name, as far as it still counts; never below nothing used, never creating a key. */
  refund(receipts: readonly ChargeReceipt[]): void;
  /**
   * Makes a subject untouched under one policy.
   *
   * @param keepBan - a ban goes on; what might have led to one is forgotten all the same
   */
  reset(policy: Policy, subject: string, keepBan?: boolean): void;
  /** The bans of policies that have a penalty. */
  readonly bans: Bans;
}

/** What a store keeps beside the states of policies with a penalty. */
export interface Bans {
  /** Counts one towards the policy's penalty, unless the subject is banned. */
  strike(policy: Policy, subject: string): void;
  /** Bans a subject from now on for `forMs`; 0 lifts a ban. */
  set(policy: Policy, subject: string, forMs: Millis): void;
  /** Bans that have not ended, of these policies, `most` of them. */
  list(policies: readonly Policy[], most: number): readonly Ban[];
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
  reset(policy: Policy, subject: string, keepBan?: boolean): Promise<void>;
  readonly bans: {
    strike(policy: Policy, subject: string): Promise<void>;
    set(policy: Policy, subject: string, forMs: Millis): Promise<void>;
    list(policies: readonly Policy[], most: number): Promise<readonly Ban[]>;
  };
  /** Closes what the store itself opened. */
  close(): Promise<void>;
  /** Keeps requests safe from the store's failures: `failsafe` of `@headgate/core/failsafe`. */
  readonly failsafe: (store: AsyncStore, options: FailsafeOptions) => SafeStore;
}

/** How long a limiter waits for its store, by which clock it waits, and who hears of failures. */
export interface FailsafeOptions {
  readonly deadlineMs: Millis;
  readonly clock: Clock;
  readonly onStoreError: ((error: HeadgateError) => void) | undefined;
}

/** A limiter's way to an asynchronous store. */
export interface SafeStore {
  /** Decides by the policies' failure modes where the store fails; rejects for what the application got wrong alone. */
  decide(batch: readonly Charge[], mode: ApplyMode, wantNext: boolean): Promise<Decision>;
  /**
   * Asks the store within the deadline; it is the application's explicit wish, so the breaker has no say.
   *
   * @param degraded - asks what this process enforces by itself instead
   */
  ask<T>(call: (store: Store) => T | Promise<T>, degraded: boolean): Promise<T>;
  /** Whether a policy is one that this process has enforced by itself: what is charged under it is charged here alone. */
  isLocal(policy: Policy): boolean;
  /** Tells of a failure that nobody waits for. */
  report(error: HeadgateError): void;
  /** Whether requests reach the store now. */
  readonly breaker: BreakerState;
  /**
   * Tells what happens between the limiter and its store, as it happens. What a watcher throws changes nothing.
   *
   * @returns how to stop
   */
  watch(watcher: (event: SafeStoreEvent) => unknown): () => void;
}

/** Whether requests reach the store: all of them, none, or one that tries whether it is back. */
export type BreakerState = "closed" | "open" | "half-open";

/** What happens between a limiter and an asynchronous store. */
export type SafeStoreEvent =
  /** The store was called and answered, or did not within the deadline. */
  | { readonly type: "call"; readonly latencyMs: number; readonly error: HeadgateError | undefined }
  /** A refusal that the store remembered was the decision, without a call. */
  | { readonly type: "recall"; readonly decision: Decision }
  /** The store failed, or was not called while the breaker is open; undefined for what was no decision. */
  | {
      readonly type: "failure";
      readonly error: HeadgateError;
      readonly decision: Decision | undefined;
    }
  /** The breaker of the store, which all limiters of the store share, has changed. */
  | { readonly type: "breaker"; readonly state: BreakerState };

export type Store = SyncStore | AsyncStore;
