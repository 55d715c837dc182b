import { HeadgateError } from "../errors.js";
import type { Policy } from "../policy/policy.js";

/** Whether two policies say the same, as two parts of an application may each build theirs from one definition. */
export function samePolicy(a: Policy, b: Policy): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** The error for one name that stands for two different policies on one store. */
export function policyConflict(name: string): HeadgateError {
  return new HeadgateError(
    "POLICY_CONFLICT",
    `policy "${name}": this store keeps a different policy under that name`,
  );
}
