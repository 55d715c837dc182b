import { HeadgateError, show } from "../errors.js";
import type { Policy } from "../policy/policy.js";
import type { MaybePromise } from "./options.js";

/** The policies of a mount: always the same ones, or chosen for each request; `false` for no limit. */
export type PolicySelection<Request, N extends string> =
  | readonly N[]
  | ((request: Request) => MaybePromise<N | readonly N[] | false>);

/** For inherited policies: another in its place, or none. */
export type PolicyOverride<N extends string> = { readonly [Name in N]?: N | false };

/**
 * The policies that a mount inherits, after what it overrides.
 *
 * @throws HeadgateError `INVALID_OPTION` for an override of what is not inherited
 */
export function inheritedNames<N extends string>(
  inherit: readonly N[],
  override: PolicyOverride<N>,
): readonly N[] {
  for (const name of namesIn<N>(override)) {
    if (inherit.includes(name)) continue;
    const rule = `override: policy "${name}" is not inherited here`;
    throw new HeadgateError("INVALID_OPTION", `${rule} (inherited: ${inherit.join(", ")})`);
  }
  return inherit.flatMap((name): readonly N[] => {
    const instead: N | false | undefined = Object.hasOwn(override, name) ? override[name] : name;
    return instead === false || instead === undefined ? [] : [instead];
  });
}

/** Some names together, each once. */
export function together<N extends string>(some: readonly N[], others: readonly N[]): readonly N[] {
  return some.length === 0 ? others : [...new Set([...some, ...others])];
}

/** What is wrong whatever the request: no policy, or two queues at once. */
export function checkSelection(policies: readonly Policy[]): void {
  if (policies.length === 0)
    throw new HeadgateError("UNKNOWN_POLICY", "limit: name at least one policy");
  const queues = policies.filter(isQueue);
  if (queues.length > 1) throw new HeadgateError("INVALID_OPTION", tooManyQueues(queues));
}

/** Whether a policy may hold requests. */
export function isQueue({ algorithm, shadow }: Policy): boolean {
  return algorithm === "leaky-bucket" && !shadow;
}

export function tooManyQueues(queues: readonly Policy[]): string {
  const names = queues.map(({ name }) => `"${name}"`).join(" and ");
  return `policies ${names}: a request can wait in one leaky bucket at most`;
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
