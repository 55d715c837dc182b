import type { Limiter } from "@headgate/core";

/** What metrics are told apart by. All of it is bounded by the configuration: never who is asking. */
export const attribute = {
  limiter: "headgate.limiter",
  policy: "headgate.policy",
  outcome: "headgate.outcome",
  reason: "headgate.reason",
  degraded: "headgate.degraded",
  shadow: "headgate.shadow",
  breaker: "headgate.breaker.state",
  allowed: "headgate.allowed",
  remaining: "headgate.remaining",
  /** Of OpenTelemetry's own conventions. */
  errorType: "error.type",
} as const;

/** OpenTelemetry's word for a value outside of the known ones. */
const other = "_OTHER";

const errorTypes: ReadonlySet<string> = new Set([
  "STORE_FAILURE",
  "STORE_KEY_FAILURE",
  "STORE_TIMEOUT",
  "STORE_CIRCUIT_OPEN",
]);

/** An error's code, if it is one of the closed set: a store may throw what it likes. */
export function errorType({ code }: { readonly code: string }): string {
  return errorTypes.has(code) ? code : other;
}

/** A policy's name, if it is one of the limiter's: charges may name any. */
export function policyName({ policies }: Limiter, name: string): string {
  return Object.hasOwn(policies, name) ? name : other;
}
