import type { Decision } from "@headgate/core";
import type { MaybePromise, PolicySelection } from "@headgate/core/http";
import type { NextRequest } from "next/server.js";
import { Gate, type MountOptions } from "./gate.js";
import { type RefusalHeaders, refusalOf, withFields } from "./response.js";
import { responseOfThrown } from "./thrown-response.js";

export interface WithRateLimitOptions<N extends string> extends MountOptions<NextRequest, N> {
  /** The policies of the handler, or a function that chooses them; `false` for no limit. */
  readonly policies: PolicySelection<NextRequest, N>;
  /** Headers of every refusal, such as those of CORS. */
  readonly refusalHeaders?: RefusalHeaders<NextRequest>;
}

/** What a limited handler finds in its second argument besides what Next puts there. */
export interface LimitedContext {
  /** Undefined when no policy took part. */
  readonly decision: Decision | undefined;
}

/** A route handler's second argument, as Next gives it. */
export interface RouteContext {
  // biome-ignore lint/suspicious/noExplicitAny: each route has parameters of its own, which Next checks
  readonly params: Promise<any>;
}

/**
 * Limits a route handler: `export const POST = withRateLimit(handler, options)`. The handler gets the
 * request, and Next's context with the `decision` added; it never sees a refused request.
 *
 * The fields are set on what it returns, and on what `redirect()` and `notFound()` make. An error that it
 * throws is Next's: the 500 carries no fields.
 *
 * @throws HeadgateError `INVALID_OPTION` or `UNKNOWN_POLICY` naming the rule and the value
 */
export function withRateLimit<const N extends string, Context extends object = RouteContext>(
  handler: (
    request: NextRequest,
    context: Context & LimitedContext,
  ) => MaybePromise<Response | undefined>,
  { policies, refusalHeaders, ...mount }: WithRateLimitOptions<N>,
): (request: NextRequest, context: Context) => Promise<Response> {
  const gate = new Gate("withRateLimit", policies, mount);
  return async (request, context) => {
    const plan = await gate.admit(request);
    if (plan.action === "reject") return refusalOf(plan, request, { refusalHeaders });
    const { decision } = plan;
    const response = await respond(() => handler(request, { ...context, decision }), request);
    // What is no response at all is for Next to report.
    return response instanceof Response ? withFields(response, plan) : (response as never);
  };
}

async function respond(
  handle: () => MaybePromise<Response | undefined>,
  request: NextRequest,
): Promise<Response | undefined> {
  try {
    return await handle();
  } catch (thrown) {
    const response = responseOfThrown(thrown, request);
    if (response === undefined) throw thrown;
    return response;
  }
}
