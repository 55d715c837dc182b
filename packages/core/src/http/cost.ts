import { HeadgateError, show } from "../errors.js";
import { costFor } from "../limiter/charges.js";
import type { Cost } from "../limiter/limiter.js";
import { capacityOf } from "../policy/capacity.js";
import type { Policy } from "../policy/policy.js";

/** What a cost, as the application gave it, is for one policy: right or wrong. */
export function costOf(policy: Policy, price: unknown): unknown {
  return costFor(policy.name, price as Cost);
}

export function isCost(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/**
 * Checks a cost that is the same for every request.
 *
 * @param always - whether every request meets these policies, so that each must be able to admit it
 * @throws HeadgateError `INVALID_OPTION` naming the policy
 */
export function checkConstantCost(
  price: unknown,
  policies: readonly Policy[],
  always: boolean,
): void {
  for (const policy of policies) {
    const cost = costOf(policy, price);
    const most = always ? capacityOf(policy) : Number.MAX_SAFE_INTEGER;
    if (isCost(cost) && cost <= most) continue;
    const rule = always ? `an integer from 0 to its capacity ${most}` : "an integer from 0";
    throw new HeadgateError(
      "INVALID_OPTION",
      `policy "${policy.name}": cost must be ${rule}, got ${show(cost)}`,
    );
  }
}
