import { HeadgateError } from "../errors.js";
import type { Policy } from "../policy/policy.js";
import type { Store } from "../store/store.js";

const claims = new WeakMap<Store, Map<string, Policy>>();

/**
 * Notes what a limiter means by its policy names on a store. One name and version must mean one policy for all
 * limiters of the store in this process; another version may stand beside it.
 *
 * @param replace - the policies take the place of what their names meant
 * @returns the policies, those that another limiter has as well as the same objects
 * @throws HeadgateError `POLICY_CONFLICT`; then nothing is noted
 */
export function claimPolicies<N extends string>(
  store: Store,
  policies: Readonly<Record<N, Policy>>,
  replace = false,
): Readonly<Record<N, Policy>> {
  const known = claims.get(store) ?? new Map<string, Policy>();
  const claimed: Record<string, Policy> = {};
  for (const policy of Object.values<Policy>(policies)) {
    const { name } = policy;
    const other = known.get(name);
    const same = JSON.stringify(other) === JSON.stringify(policy);
    if (!replace && !same && other?.version === policy.version)
      throw new HeadgateError(
        "POLICY_CONFLICT",
        `policy "${name}": another limiter on this store has a different one of this version`,
      );
    claimed[name] = same ? (other as Policy) : policy;
  }
  claims.set(store, known);
  for (const policy of Object.values(claimed)) known.set(policy.name, policy);
  return Object.freeze(claimed) as Record<N, Policy>;
}
