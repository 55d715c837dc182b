import type { Decision } from "@headgate/core";
import {
  addressFrom,
  checkedSucceeded,
  concludeAtEnd,
  Guard,
  isOver,
  isSuccess,
  type MaybePromise,
  type PolicySelection,
  recordOf,
  resolveOptions,
  writePlan,
} from "@headgate/core/http";
import type { NextApiRequest, NextApiResponse } from "next";
import { requireSource } from "./address.js";
import { holdsOf, type MountOptions, unknownRoute } from "./gate.js";

export interface WithRateLimitApiOptions<N extends string> extends MountOptions<NextApiRequest, N> {
  /** The policies of the handler, or a function that chooses them; `false` for no limit. */
  readonly policies: PolicySelection<NextApiRequest, NoInfer<N>>;
  /**
   * Whether a request went well, for policies that count by that. Asked once the response has been sent.
   * @default a status below 400
   */
  readonly succeeded?: (request: NextApiRequest, response: NextApiResponse) => boolean;
}

/** A handler of the Pages API. */
export type ApiHandler<Data> = (
  request: NextApiRequest,
  response: NextApiResponse<Data>,
) => MaybePromise<unknown>;

/**
 * Limits a handler of the Pages API: `export default withRateLimitApi(handler, options)`. The handler never
 * sees a refused request; `decisionOf(request)` tells it the decision.
 *
 * @throws HeadgateError `INVALID_OPTION` or `UNKNOWN_POLICY` naming the rule and the value
 */
export function withRateLimitApi<const N extends string, Data = unknown>(
  handler: ApiHandler<Data>,
  { limiter, ip, policies, succeeded = isOk, ...options }: WithRateLimitApiOptions<N>,
): (request: NextApiRequest, response: NextApiResponse<Data>) => Promise<unknown> {
  requireSource(caller, ip);
  checkedSucceeded(succeeded);
  const holds = holdsOf(caller, limiter);
  const guard = new Guard({
    limiter,
    reader: {
      method: ({ method }) => method ?? "GET",
      header,
      address: addressFrom(ip, { header, socketAddress }),
      route: unknownRoute(caller),
    },
    selection: policies,
    options: resolveOptions(options),
  });
  return async (request, response) => {
    if (isOver(response)) return;
    const plan = await guard.admit(request, recordOf(request));
    const conclude = plan.action === "continue" ? plan.conclude : undefined;
    if (isOver(response)) {
      conclude?.("abandoned");
      return;
    }
    if (conclude !== undefined)
      concludeAtEnd(response, { conclude, succeeded: () => succeeded(request, response) });
    writePlan(response, plan);
    if (plan.action === "reject") return;
    if (plan.delayMs > 0) {
      await new Promise<void>((goOn) => {
        response.once("close", holds.hold(plan.delayMs, goOn));
        response.once("close", goOn);
      });
      if (isOver(response)) return;
    }
    return handler(request, response);
  };
}

const caller = "withRateLimitApi";

const isOk = (_request: NextApiRequest, response: NextApiResponse): boolean => isSuccess(response);

/** The decision that a limited handler of the Pages API runs under; undefined when no policy took part. */
export function decisionOf(request: NextApiRequest): Decision | undefined {
  return recordOf(request).decision;
}

function header(request: NextApiRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "object" ? value.join(", ") : value;
}

function socketAddress(request: NextApiRequest): string | undefined {
  return request.socket?.remoteAddress;
}
