import {
  concludeAtEnd,
  type Guard,
  type Holds,
  isOver,
  type ResponsePlan,
  recordOf,
  writePlan,
} from "@headgate/core/http";
import type { NextFunction, Request, RequestHandler, Response } from "express";

/** Whether a request went well, once its response has been sent. */
export type Succeeded = (request: Request, response: Response) => boolean;

/** What a middleware needs besides its guard. */
interface Means {
  readonly holds: Holds;
  readonly succeeded: Succeeded;
}

/**
 * A step of the chain: answers a refusal, or goes on once. It never rejects, and what the application's
 * own functions throw goes to `next`.
 */
export function middleware<N extends string>(
  guard: Guard<Request, N>,
  { holds, succeeded }: Means,
): RequestHandler {
  return (request, response, next) => {
    if (isOver(response)) return;
    const step: Step = { request, response, next, holds, succeeded };
    let plan: ResponsePlan | Promise<ResponsePlan>;
    try {
      plan = guard.admit(request, recordOf(request));
    } catch (thrown) {
      next(asError(thrown));
      return;
    }
    if (!(plan instanceof Promise)) {
      carryOut(plan, step);
      return;
    }
    // Out of the promise, so that what a later handler throws is not taken for a rejection of this one.
    plan.then(
      (settled) => queueMicrotask(() => carryOut(settled, step)),
      (thrown: unknown) =>
        queueMicrotask(() => {
          if (!isOver(response)) next(asError(thrown));
        }),
    );
  };
}

interface Step extends Means {
  readonly request: Request;
  readonly response: Response;
  readonly next: NextFunction;
}

function carryOut(plan: ResponsePlan, step: Step): void {
  const { request, response, next, holds, succeeded } = step;
  const conclude = plan.action === "continue" ? plan.conclude : undefined;
  if (isOver(response)) {
    conclude?.("abandoned");
    return;
  }
  if (conclude !== undefined)
    concludeAtEnd(response, { conclude, succeeded: () => succeeded(request, response) });
  try {
    writePlan(response, plan);
  } catch (error) {
    // Fields that the application's own body function gave and Node does not take.
    next(error);
    return;
  }
  if (plan.action === "reject") return;
  if (plan.delayMs === 0) {
    next();
    return;
  }
  const giveUp = holds.hold(plan.delayMs, () => {
    response.removeListener("close", giveUp);
    if (!isOver(response)) next();
  });
  response.once("close", giveUp);
}

/** What the application threw, as `next` understands it: `undefined` would go on, and `"route"` would leave the route. */
function asError(thrown: unknown): unknown {
  if (typeof thrown === "object" && thrown !== null) return thrown;
  return new Error(
    `headgate: a function given as an option threw ${String(thrown)}, which is no Error`,
    {
      cause: thrown,
    },
  );
}
