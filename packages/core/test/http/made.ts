import type { Decision } from "../../src/decision/decision.js";
import { decisionOf } from "../../src/decision/decision.js";
import { type GuardOptions, resolveOptions } from "../../src/http/options.js";
import type { RejectPlan, ResponsePlan } from "../../src/http/plan.js";
import { ResponsePlanner } from "../../src/http/planner.js";
import { definePolicy } from "../../src/policy/define.js";
import type { Policy } from "../../src/policy/policy.js";
import type { Outcome } from "../../src/store/store.js";

/** The instant of the golden vectors. */
export const nowMs = 1_700_000_000_123;

export type Options = GuardOptions<unknown, string>;

export function policyOf(name: string, limit: number, windowMs = 60_000): Policy {
  return definePolicy(name, { algorithm: "sliding-window", limit, windowMs });
}

/** An outcome with the numbers of the golden vectors: allowed, full and untouched unless told otherwise. */
export function outcomeOf(given: Partial<Outcome> & { readonly limit: number }): Outcome {
  const policy = given.policy ?? policyOf("default", given.limit);
  return {
    policy,
    cost: 1,
    allowed: true,
    remaining: given.limit,
    retryAfterMs: 0,
    nextMs: undefined,
    resetMs: 0,
    banMs: 0,
    delayMs: 0,
    receipt: undefined,
    ...given,
  };
}

export function deniedOf(given: Partial<Outcome> & { readonly limit: number }): Outcome {
  return outcomeOf({ allowed: false, remaining: 0, ...given });
}

/** The plan for outcomes that one limiter came to. */
export function planOf(
  outcomes: readonly Outcome[],
  options: Options = {},
  crossOrigin = false,
): ResponsePlan {
  return planOfDecision(decisionOf(outcomes), options, crossOrigin);
}

export function planOfDecision(
  decision: Decision,
  options: Options = {},
  crossOrigin = false,
): ResponsePlan {
  const { limit, remaining, resetMs, outcomes } = decision;
  return new ResponsePlanner(resolveOptions<unknown, string>(options)).plan({
    request: undefined,
    decision,
    report: { limit, remaining, resetMs },
    outcomes,
    nowMs,
    crossOrigin,
  });
}

export function refusalOf(outcomes: readonly Outcome[], options?: Options): RejectPlan {
  const plan = planOf(outcomes, options);
  if (plan.action !== "reject") throw new Error("not refused");
  return plan;
}

/** The headers as a response would carry them: later ones replace, undefined ones are removed. */
export function headersOf({ headers }: ResponsePlan): Record<string, string> {
  const set = new Map<string, string>();
  for (const [name, value] of headers) {
    if (value === undefined) set.delete(name.toLowerCase());
    else set.set(name.toLowerCase(), value);
  }
  return Object.fromEntries(set);
}
