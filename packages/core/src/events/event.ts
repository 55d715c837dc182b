import type { Millis } from "../clock.js";
import type { Decision, Degraded, Reason } from "../decision/decision.js";
import type { HeadgateError } from "../errors.js";
import type { Limiter } from "../limiter/limiter.js";
import type { ApplyMode, BreakerState, Charge, Outcome } from "../store/store.js";

/** What happens in an observed limiter. On `node:diagnostics_channel` the channel is `headgate:` and the type. */
export type LimiterEvent =
  | DecisionEvent
  | FirstRefusalEvent
  | BanEvent
  | BreakerEvent
  | StoreErrorEvent
  | StoreCallEvent;

interface EventFields<T extends string> {
  readonly type: T;
  readonly limiter: Limiter;
}

/** A charge of a decision, and what it met: undefined when nobody knows, because the store failed. */
export interface ObservedCharge extends Charge {
  readonly outcome: Outcome | undefined;
}

/** The limiter has decided. */
export interface DecisionEvent extends EventFields<"decision"> {
  readonly outcome: "allowed" | "denied";
  /** The name of the reported policy: of a refusal, the one that asks for the longest wait. */
  readonly policy: string;
  readonly reason: Reason;
  readonly degraded: Degraded;
  /** `"peek"` for a look that counts nothing. */
  readonly mode: ApplyMode;
  /** What each policy, shadow policies included, was asked and answered. The subjects tell who the caller is. */
  readonly charges: readonly ObservedCharge[];
  /** From the question to the answer, in fractions of a millisecond. */
  readonly latencyMs: number;
  /** Whether the store refused from what it remembers, without a call. */
  readonly remembered: boolean;
  /** Why the policies' failure modes decided. */
  readonly storeError: HeadgateError | undefined;
  readonly decision: Decision;
}

/** A policy has refused a subject: once for each window, as far as this process remembers. */
export interface FirstRefusalEvent extends EventFields<"firstRefusal"> {
  readonly policy: string;
  readonly subject: string;
  /** Whether the policy is a shadow, which refuses nothing. */
  readonly shadow: boolean;
  readonly outcome: Outcome;
}

/** A decision met a ban: the first one while the ban lasts, as far as this process remembers. */
export interface BanEvent extends EventFields<"ban"> {
  readonly policy: string;
  readonly subject: string;
  /** Until the ban ends. */
  readonly banMs: Millis;
}

/** The breaker of the limiter's store has changed. */
export interface BreakerEvent extends EventFields<"breaker"> {
  readonly state: BreakerState;
}

/** The store has failed a decision, a refund or another call, or was spared the call by its breaker. */
export interface StoreErrorEvent extends EventFields<"storeError"> {
  readonly error: HeadgateError;
  /** The decision that the failure modes made instead; undefined when the call was for something else. */
  readonly decision: Decision | undefined;
}

/** The store was called, and answered or failed. */
export interface StoreCallEvent extends EventFields<"storeCall"> {
  readonly latencyMs: number;
  readonly error: HeadgateError | undefined;
}
