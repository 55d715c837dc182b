import type { Limiter } from "../limiter/limiter.js";
import { policyNamed } from "../limiter/named.js";
import { namedPolicies } from "../limiter/options.js";
import type { Policy } from "../policy/policy.js";

/** Throws for policies that cannot be mounted together, or not there. */
export type MountCheck = (policies: readonly Policy[]) => void;

/** The names that are mounted together, each list once however often it is, by what is checked of them. */
type Mounted = Map<MountCheck, Map<string, readonly string[]>>;

const mountedOn = new WeakMap<object, Mounted>();

/**
 * Checks policies that are mounted together, now and whenever they are to be replaced: then the error is that of
 * `replacePolicies`, nothing has changed, and no request ever meets policies that its mount cannot have.
 *
 * @throws HeadgateError `UNKNOWN_POLICY`, and what the check throws
 */
export function checkMounted<N extends string>(
  limiter: Pick<Limiter<N>, "policies" | "replacePolicies">,
  names: readonly N[],
  check: MountCheck,
): void {
  check(names.map((name) => policyNamed(limiter.policies, name)));
  const mounted = mountedOn.get(limiter) ?? checkReplacements(limiter);
  const lists = mounted.get(check) ?? new Map<string, readonly string[]>();
  mounted.set(check, lists.set(names.join(), names));
}

/** Stands around a limiter's `replacePolicies`, as observers stand around `decide`. */
function checkReplacements<N extends string>(
  limiter: Pick<Limiter<N>, "replacePolicies">,
): Mounted {
  const mounted: Mounted = new Map();
  const replace = limiter.replacePolicies;
  limiter.replacePolicies = (definitions) => {
    const policies = namedPolicies(definitions);
    for (const [check, lists] of mounted)
      for (const names of lists.values()) check(names.map((name) => policyNamed(policies, name)));
    replace.call(limiter, definitions);
  };
  mountedOn.set(limiter, mounted);
  return mounted;
}
