import type { Decision } from "@headgate/core";
import type { PolicySelection } from "@headgate/core/http";
import { headers } from "next/headers.js";
import type { WebRequest } from "./address.js";
import { Gate, type MountOptions } from "./gate.js";

/** What a Server Action or a Server Component knows of its request. */
export type ActionRequest = WebRequest;

export interface CheckRateLimitOptions<N extends string> extends MountOptions<ActionRequest, N> {
  /** The policies of the action, or a function that chooses them; `false` for no limit. */
  readonly policies: PolicySelection<ActionRequest, NoInfer<N>>;
}

/** A decision as data, for an action to return what its page shows. */
export interface ActionCheck {
  readonly allowed: boolean;
  /** A sentence for the visitor, such as "Too many requests. Retry after 42 seconds."; undefined when allowed. */
  readonly message: string | undefined;
  /** Whole seconds, at least 1; undefined when allowed, or when the request can never fit. */
  readonly retryAfterSeconds: number | undefined;
  /** Undefined when no policy took part. */
  readonly decision: Decision | undefined;
}

/**
 * Decides the request that a Server Action, or a Server Component, is part of. An action has no status and
 * no headers of its own, so it returns what the visitor is to see:
 *
 * ```ts
 * const { allowed, message } = await checkRateLimit({ limiter, ip: { trustedProxies: 1 }, policies: ["order"] });
 * if (!allowed) return { error: message };
 * ```
 *
 * How the action goes it does not see. For policies that count by that, call
 * `conclude(limiter, decision, "success")` or `"failure"`, of `@headgate/core/policies`, with the decision; until
 * then the request stays counted.
 *
 * Under a leaky bucket it resolves when the request's slot has come. One policy and subject is charged once
 * a request, however often it is asked.
 *
 * @throws HeadgateError `INVALID_OPTION` or `UNKNOWN_POLICY` naming the rule and the value
 */
export async function checkRateLimit<const N extends string>(
  options: CheckRateLimitOptions<N>,
): Promise<ActionCheck> {
  const received = await headers();
  const plan = await gateOf(options).admit({ method: "POST", headers: received }, received);
  const { decision } = plan;
  if (plan.action === "continue")
    return { allowed: true, message: undefined, retryAfterSeconds: undefined, decision };
  const seconds = new Map(plan.headers).get("Retry-After");
  return {
    allowed: false,
    message: plan.message,
    retryAfterSeconds: seconds === undefined ? undefined : Number(seconds),
    decision,
  };
}

const gates = new WeakMap<object, unknown>();

/** One gate for one options object: what does not change is checked once. */
function gateOf<N extends string>(options: CheckRateLimitOptions<N>): Gate<ActionRequest, N> {
  const known = gates.get(options) as Gate<ActionRequest, N> | undefined;
  if (known !== undefined) return known;
  const { policies, ...mount } = options;
  const gate = new Gate("checkRateLimit", policies, mount);
  gates.set(options, gate);
  return gate;
}
