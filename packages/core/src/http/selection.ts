import { HeadgateError, show } from "../errors.js";
import type { Policy } from "../policy/policy.js";
import type { MaybePromise } from "./options.js";

/** The policies of a mount: always the same ones, or chosen for each request; `false` for no limit. */
export type PolicySelection<Request, N extends string> =
  | readonly N[]
  | ((request: Request) => MaybePromise<N | readonly N[] | false>);

/** What is wrong whatever the request: no policy, or two queues at once. */
export function checkSelection(policies: readonly Policy[]): void {
  if (policies.length === 0)
    throw new HeadgateError("UNKNOWN_POLICY", "limit: name at least one policy");
  const queues = policies.filter(({ algorithm }) => algorithm === "leaky-bucket");
  if (queues.length > 1) {
    const names = queues.map(({ name }) => `"${name}"`).join(" and ");
    throw new HeadgateError(
      "INVALID_OPTION",
      `policies ${names}: a request can wait in one leaky bucket at most`,
    );
  }
}

/** The names that the application chose. Whatever is neither a choice nor `false` must not mean unlimited. */
export function chosenNames<N extends string>(chosen: N | readonly N[]): readonly N[] {
  if (typeof chosen === "string") return [chosen];
  if (Array.isArray(chosen) && chosen.length > 0) return chosen;
  throw new HeadgateError(
    "UNKNOWN_POLICY",
    `policies: the function must choose names, or false for no limit, got ${show(chosen)}`,
  );
}

/** The policies that an option is given for by name. */
export function namesIn<N extends string>(option: unknown): readonly N[] {
  return typeof option === "object" && option !== null ? (Object.keys(option) as N[]) : [];
}
