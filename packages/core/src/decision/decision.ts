import type { Millis } from "../clock.js";
import { capacityOf } from "../policy/capacity.js";
import type { FailureMode, Policy } from "../policy/policy.js";
import type { Outcome } from "../store/store.js";

/** Why a decision is what it is. */
export type Reason =
  | "admitted"
  | "limit"
  | "ban"
  | "never"
  | "store-failure"
  | "wrong-cost"
  | "wrong-limits"
  | "two-queues";

/** Whether a failing store shaped a decision, and by which failure mode. */
export type Degraded = "none" | FailureMode;

/**
 * The answer to a check. A refusal is an answer like any other. Its numbers are those of one policy,
 * the reported one: when refused, the one that asks for the longest wait; when admitted, the one
 * with the fewest further requests of this cost.
 */
export interface Decision {
  readonly allowed: boolean;
  readonly reason: Reason;
  readonly degraded: Degraded;
  /** The outcome of each enforced policy that took part, in the order in which they were named. */
  readonly outcomes: readonly Outcome[];
  /** The outcomes of shadow policies, which had no say. */
  readonly shadows: readonly Outcome[];
  /** The reported policy. */
  readonly policy: Policy;
  /** The reported policy's capacity. */
  readonly limit: number;
  /** Undefined when nobody knows, because the store failed and the policy fails open or closed. */
  readonly remaining: number | undefined;
  /** 0 when admitted, `Infinity` when the request can never fit. */
  readonly retryAfterMs: Millis;
  /** Until the reported policy is as good as untouched; undefined when nobody knows. */
  readonly resetMs: Millis | undefined;
  /** How long the request must be held before it goes on. */
  readonly delayMs: Millis;
}

const noOutcomes: readonly Outcome[] = [];

/** Folds the outcomes of one batch, at least one, into a decision. */
export function decisionOf(all: readonly Outcome[], degraded: "none" | "local" = "none"): Decision {
  const shadowed = all.some(isShadow);
  const outcomes = shadowed ? all.filter((outcome) => !isShadow(outcome)) : all;
  const shadows = shadowed ? all.filter(isShadow) : noOutcomes;
  // Nothing that is enforced: admitted, and nothing to tell.
  if (outcomes.length === 0)
    return { ...undecided((all[0] as Outcome).policy, "open", admitted), degraded, shadows };
  const reported = reportedOutcome(outcomes);
  const { allowed, policy, limit, remaining, retryAfterMs, resetMs } = reported;
  return {
    allowed,
    reason: allowed ? "admitted" : refusalReason(reported),
    degraded,
    outcomes,
    shadows,
    policy,
    limit,
    remaining,
    retryAfterMs,
    resetMs,
    // Only one policy of a request may hold it, and a refused request is not held.
    delayMs: allowed ? longestDelay(outcomes) : 0,
  };
}

const admitted = { reason: "admitted", retryAfterMs: 0 } as const;

function isShadow({ policy }: Outcome): boolean {
  return policy.shadow;
}

function refusalReason({ retryAfterMs, banMs }: Outcome): Reason {
  if (retryAfterMs === Infinity) return "never";
  return banMs > 0 ? "ban" : "limit";
}

/** A decision without a store's word: only the policy's own limit is known. */
export function undecided(
  policy: Policy,
  mode: "open" | "closed",
  { reason, retryAfterMs }: { reason: Reason; retryAfterMs: Millis },
): Decision {
  return {
    allowed: mode === "open",
    reason,
    degraded: mode,
    outcomes: noOutcomes,
    shadows: noOutcomes,
    policy,
    limit: capacityOf(policy),
    remaining: undefined,
    retryAfterMs,
    resetMs: undefined,
    delayMs: 0,
  };
}

/** The outcome whose numbers stand for all: the longest wait among refusals, else the one nearest to exhaustion. */
export function reportedOutcome(outcomes: readonly Outcome[]): Outcome {
  let reported = outcomes[0] as Outcome;
  for (let index = 1; index < outcomes.length; index += 1) {
    const outcome = outcomes[index] as Outcome;
    if (tighter(outcome, reported)) reported = outcome;
  }
  return reported;
}

function tighter(outcome: Outcome, than: Outcome): boolean {
  if (outcome.allowed !== than.allowed) return than.allowed;
  if (!outcome.allowed) return outcome.retryAfterMs > than.retryAfterMs;
  const further = furtherRequests(outcome) - furtherRequests(than);
  return further === 0 ? outcome.resetMs > than.resetMs : further < 0;
}

function furtherRequests({ remaining, cost }: Outcome): number {
  return Math.floor(remaining / Math.max(1, cost));
}

function longestDelay(outcomes: readonly Outcome[]): Millis {
  let delayMs = 0;
  for (const outcome of outcomes) delayMs = Math.max(delayMs, outcome.delayMs);
  return delayMs;
}
