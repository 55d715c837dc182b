import { HeadgateError, show } from "../errors.js";
import type { Policy } from "../policy/policy.js";

/**
 * The policy of a name, right or wrong.
 *
 * @throws HeadgateError `UNKNOWN_POLICY`
 */
export function policyNamed(policies: Readonly<Record<string, Policy>>, name: string): Policy {
  if (typeof name === "string" && Object.hasOwn(policies, name)) return policies[name] as Policy;
  const known = Object.keys(policies).join(", ");
  throw new HeadgateError(
    "UNKNOWN_POLICY",
    `policy ${show(name)} is not one of this limiter's: ${known}`,
  );
}
