import type { Policy } from "@headgate/core";
import type { LoggedRequest } from "../reading/request.js";

/** How the work behind a request went, or undefined where the log does not tell. */
export type Ending = "success" | "failure" | undefined;

/** Tells the ending of a request. */
export type EndingRule = (request: LoggedRequest) => Ending;

/** Whether a policy cannot be tried without knowing how requests ended. */
export function needsEndings({ count, penalty }: Policy): boolean {
  return count !== "all" || penalty?.on === "failures";
}

/** Failed is what the server answered with an error. */
export const endingByStatus: EndingRule = (request) => {
  const status = request.field("status");
  if (status === undefined) return undefined;
  return Number(status) >= 400 ? "failure" : "success";
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
