import { tell } from "../listener.js";
import type { Ending } from "../policies/conclude.js";
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
 * Tells how a request went: by `succeeded` once its response has been sent, and as given up when its connection
 * closes before. Where `succeeded` throws nobody knows, and the request stays counted.
 */
export function concludeAtEnd(
  response: EndingResponse,
  {
    conclude,
    succeeded,
  }: { readonly conclude: (ending: Ending) => void; readonly succeeded: () => boolean },
): void {
  let ending: Ending = "abandoned";
  let concluded = false;
  const end = (): void => {
    if (concluded) return;
    concluded = true;
    conclude(ending);
  };
  response.once("finish", () => {
    tell("succeeded", () => {
      ending = succeeded() === true ? "success" : "failure";
    });
    end();
  });
  response.once("close", end);
}
