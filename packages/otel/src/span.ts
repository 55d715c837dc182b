import type { DecisionEvent } from "@headgate/core/events";
import { trace } from "@opentelemetry/api";
import { attribute, policyName } from "./attributes.js";

/** Notes a decision on the span of the request that it was made for; of several, the last one is seen. */
export function describeOnSpan({ limiter, policy, reason, decision }: DecisionEvent): void {
  const span = trace.getActiveSpan();
  if (span?.isRecording() !== true) return;
  const { allowed, remaining, degraded } = decision;
  span.setAttributes({
    [attribute.policy]: policyName(limiter, policy),
    [attribute.allowed]: allowed,
    [attribute.reason]: reason,
    [attribute.degraded]: degraded,
    ...(remaining !== undefined && { [attribute.remaining]: remaining }),
  });
}
