import { HeadgateError, show } from "../errors.js";
import { tell } from "../listener.js";
import type { Ending } from "../policies/conclude.js";
import { warnOnce } from "../warnings.js";
import type { NodeResponse } from "./node-response.js";

/** A Node response that tells of its end. */
export interface EndingResponse extends NodeResponse {
  once(event: "close" | "finish", listener: () => void): unknown;
}

/** A status below 400: what counts as a success unless the application says otherwise. */
export function isSuccess({ statusCode }: { readonly statusCode: number }): boolean {
  return statusCode < 400;
}

/**
 * Whether a request went well, by the application's function.
 *
 * @throws HeadgateError `INVALID_OPTION` for what is no function
 */
export function checkedSucceeded<F extends (...args: never[]) => boolean>(succeeded: F): F {
  if (typeof succeeded === "function") return succeeded;
  throw new HeadgateError(
    "INVALID_OPTION",
    `succeeded: must be a function, got ${show(succeeded)}`,
  );
}

/** How a request went, by what the application says. Where it does not say, the request counts as given up. */
export function endingOf(succeeded: () => boolean): Ending {
  let ending: Ending = "abandoned";
  tell("succeeded", () => {
    const said: unknown = succeeded();
    if (typeof said === "boolean") ending = said ? "success" : "failure";
    else
      warnOnce(
        "HEADGATE_SUCCEEDED",
        `succeeded: must give true or false, got ${show(said)}; the request stays counted`,
      );
    return said;
  });
  return ending;
}

/**
 * Tells how a request went: by `succeeded` once its response has been sent, and as given up when its connection
 * closes before.
 */
export function concludeAtEnd(
  response: EndingResponse,
  {
    conclude,
    succeeded,
  }: { readonly conclude: (ending: Ending) => void; readonly succeeded: () => boolean },
): void {
  let concluded = false;
  const end = (ending: Ending): void => {
    if (concluded) return;
    concluded = true;
    conclude(ending);
  };
  response.once("finish", () => end(endingOf(succeeded)));
  response.once("close", () => end("abandoned"));
}
