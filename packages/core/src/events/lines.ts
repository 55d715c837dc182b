import type { Outcome } from "../store/store.js";
import type {
  BanEvent,
  BreakerEvent,
  DecisionEvent,
  ObservedCharge,
  StoreErrorEvent,
} from "./event.js";

/** A line that may be written. What it says is made only when it is. */
export interface Line {
  /** Lines of one cause are alike; there are as many causes as policies have reasons. */
  readonly cause: string;
  readonly make: () => { readonly fields: object; readonly message: string };
}

/** How a subject is written. */
export type Naming = (subject: string) => string;

/** The line of a decision that refused its request. */
export function refusalLine(event: DecisionEvent, name: Naming): Line {
  const { policy, reason, degraded, decision, storeError } = event;
  return {
    cause: `refusal ${policy} ${reason} ${degraded}`,
    make: () => {
      const reported =
        event.charges.find(
          (charge) => charge.policy.name === policy && charge.outcome?.allowed === false,
        ) ?? event.charges.find((charge) => charge.policy.name === policy);
      const why =
        reported?.outcome === undefined ? "the store failed" : whyRefused(reported.outcome);
      return {
        fields: {
          event: "refusal",
          policy,
          reason,
          degraded,
          ...(reported && chargeFields(reported, name)),
          remembered: event.remembered,
          latencyMs: event.latencyMs,
          ...(storeError && { code: storeError.code }),
          ...(decision.outcomes.length > 1 && {
            charges: event.charges.map((charge) => ({
              policy: charge.policy.name,
              ...chargeFields(charge, name),
            })),
          }),
        },
        message: `refused by policy "${policy}": ${why}`,
      };
    },
  };
}

/** The line of a shadow policy that would have refused a request. */
export function shadowLine(charge: ObservedCharge, outcome: Outcome, name: Naming): Line {
  const policy = charge.policy.name;
  return {
    cause: `shadow ${policy}`,
    make: () => ({
      fields: { event: "shadowRefusal", policy, ...chargeFields(charge, name) },
      message: `shadow policy "${policy}" would have refused: ${whyRefused(outcome)}`,
    }),
  };
}

export function banLine({ policy, subject, banMs }: BanEvent, name: Naming): Line {
  return {
    cause: `ban ${policy}`,
    make: () => ({
      fields: { event: "ban", policy, subject: name(subject), banMs },
      message: `banned by policy "${policy}" for ${banMs} ms`,
    }),
  };
}

export function storeErrorLine({ error, decision }: StoreErrorEvent): Line {
  const { code, message } = error;
  const policy = decision?.policy.name;
  const degraded = decision?.degraded;
  return {
    cause: `storeError ${code}`,
    make: () => ({
      // Not the cause: what a client library throws may repeat a command, with whom it was about.
      fields: { event: "storeError", code, ...(decision && { policy, degraded }) },
      message,
    }),
  };
}

export function breakerLine({ state }: BreakerEvent): Line {
  return {
    cause: `breaker ${state}`,
    make: () => ({ fields: { event: "breaker", state }, message: `store breaker: ${state}` }),
  };
}

function chargeFields({ policy, subject, cost, outcome }: ObservedCharge, name: Naming): object {
  const { algorithm, limit, windowMs } = policy;
  const asked = { subject: name(subject), cost, algorithm, limit, windowMs };
  if (outcome === undefined) return asked;
  const { allowed, remaining, retryAfterMs, resetMs, banMs } = outcome;
  return {
    ...asked,
    allowed,
    capacity: outcome.limit,
    remaining,
    // JSON has no word for never.
    ...(retryAfterMs !== Number.POSITIVE_INFINITY && { retryAfterMs }),
    resetMs,
    ...(banMs > 0 && { banMs }),
  };
}

function whyRefused({ cost, limit, remaining, retryAfterMs, banMs }: Outcome): string {
  if (retryAfterMs === Number.POSITIVE_INFINITY)
    return `a cost of ${cost} is above its capacity of ${limit}`;
  if (banMs > 0) return `banned for another ${banMs} ms`;
  return `${remaining} of ${limit} left for a cost of ${cost}, possible in ${retryAfterMs} ms`;
}
