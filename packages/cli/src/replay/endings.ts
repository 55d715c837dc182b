import { isSuccess } from "@headgate/core/http";
import type { LoggedRequest } from "../reading/request.js";

/** How the work behind a request went, or undefined where the log does not tell. */
export type Ending = "success" | "failure" | undefined;

/** Tells the ending of a request. */
export type EndingRule = (request: LoggedRequest) => Ending;

/** What adapters take for a success: a status below 400. */
export const endingByStatus: EndingRule = (request) => {
  const status = request.field("status");
  if (status === undefined) return undefined;
  return isSuccess({ statusCode: Number(status) }) ? "success" : "failure";
};

/** Failed is what has one of some values in a field; an `x` in a value stands for any digit, as in `4xx`. */
export function endingByField(field: string, values: readonly string[]): EndingRule {
  const failed = values.map((value) =>
    /^[\dx]{3}$/.test(value) && value.includes("x")
      ? new RegExp(`^${value.replaceAll("x", "\\d")}$`)
      : value,
  );
  return (request) => {
    const found = request.field(field);
    if (found === undefined) return undefined;
    const matches = failed.some((value) =>
      typeof value === "string" ? value === found : value.test(found),
    );
    return matches ? "failure" : "success";
  };
}
