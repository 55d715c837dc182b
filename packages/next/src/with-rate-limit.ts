import type { Decision } from "@headgate/core";
import {
  type ContinuePlan,
  checkedSucceeded,
  type Ending,
  endingOf,
  isSuccess,
  type MaybePromise,
  type PolicySelection,
} from "@headgate/core/http";
import type { NextRequest } from "next/server.js";
import { Gate, type MountOptions } from "./gate.js";
import { type RefusalHeaders, refusalOf, withFields } from "./response.js";
import { responseOfThrown } from "./thrown-response.js";

export interface WithRateLimitOptions<N extends string> extends MountOptions<NextRequest, N> {
  /** The policies of the handler, or a function that chooses them; `false` for no limit. */
  readonly policies: PolicySelection<NextRequest, NoInfer<N>>;
  /**
   * Whether a request went well, for policies that count by that. An error that the handler throws is a failure.
   * @default a status below 400
   */
  readonly succeeded?: (response: Response) => boolean;
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
  { policies, refusalHeaders, succeeded = isOk, ...mount }: WithRateLimitOptions<N>,
): (request: NextRequest, context: Context) => Promise<Response> {
  const gate = new Gate("withRateLimit", policies, mount);
  checkedSucceeded(succeeded);
  return async (request, context) => {
    const plan = await gate.admit(request);
    if (plan.action === "reject") return refusalOf(plan, request, { refusalHeaders });
    const { decision, conclude } = plan;
    const handle = () => respond(() => handler(request, { ...context, decision }), request);
    const response = await (conclude === undefined
      ? handle()
      : concluded(handle, { request, conclude, succeeded }));
    // What is no response at all is for Next to report.
    return response instanceof Response ? withFields(response, plan) : (response as never);
  };
}

const isOk = ({ status }: Response): boolean => isSuccess({ statusCode: status });

/** What a handler responds, once it has been told how that went. */
async function concluded(
  handle: () => Promise<Response | undefined>,
  {
    request,
    conclude,
    succeeded,
  }: {
    readonly request: NextRequest;
    readonly conclude: NonNullable<ContinuePlan["conclude"]>;
    readonly succeeded: (response: Response) => boolean;
  },
): Promise<Response | undefined> {
  let ending: Ending = "failure";
  try {
    const response = await handle();
    if (response instanceof Response) ending = endingOf(() => succeeded(response));
    return response;
  } finally {
    // Whoever has gone waits for no answer, and what the handler made of that tells nothing of the request.
    conclude(request.signal.aborted ? "abandoned" : ending);
  }
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
