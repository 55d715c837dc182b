import type { Millis } from "../clock.js";
import type { Decision } from "../decision/decision.js";
import type { Ending } from "../policies/conclude.js";
import type { Field } from "./fields.js";

/** What an adapter does with a response. */
export type ResponsePlan = ContinuePlan | RejectPlan;

interface PlanFields {
  /** Fields to set, or to remove, before the first byte. */
  readonly headers: readonly Field[];
  /** Names to add to `Access-Control-Expose-Headers`; empty for none. */
  readonly expose: readonly string[];
  /** Undefined when no policy took part. */
  readonly decision: Decision | undefined;
}

/** Go on to the handler, after holding the request for `delayMs`. */
export interface ContinuePlan extends PlanFields {
  readonly action: "continue";
  readonly delayMs: Millis;
  /** To be called once, when it is known how the request went; undefined when no policy asks. Never throws. */
  readonly conclude: ((ending: Ending) => void) | undefined;
}

/** Answer now; the handler never sees the request. */
export interface RejectPlan extends PlanFields {
  readonly action: "reject";
  readonly status: number;
  readonly body: string;
  /** The sentence for people, for an adapter that answers in another media type. */
  readonly message: string;
}

/** The plan for a request that no policy concerns. */
export const passPlan: ContinuePlan = {
  action: "continue",
  headers: [],
  expose: [],
  decision: undefined,
  delayMs: 0,
  conclude: undefined,
};
