import { HeadgateError, show } from "../errors.js";
import type { Charge } from "../store/store.js";

/**
 * Checks charges and makes one of several that name the same policy and subject: the dearest.
 *
 * @throws HeadgateError `INVALID_CHARGE` for a wrong cost or for two leaky buckets
 */
export function mergeCharges(charges: readonly Charge[]): readonly Charge[] {
  for (const { policy, cost } of charges) checkCost(policy.name, cost);
  if (charges.length === 1) return charges;
  const merged: Charge[] = [];
  for (const charge of charges) {
    const at = merged.findIndex(
      ({ policy, subject }) => policy.name === charge.policy.name && subject === charge.subject,
    );
    if (at < 0) merged.push(charge);
    else if (charge.cost > (merged[at] as Charge).cost) merged[at] = charge;
  }
  const queues = merged.filter(({ policy }) => policy.algorithm === "leaky-bucket");
  if (queues.length > 1) {
    const names = queues.map(({ policy }) => `"${policy.name}"`).join(" and ");
    throw new HeadgateError(
      "INVALID_CHARGE",
      `policies ${names}: a request can wait in one leaky bucket at most`,
    );
  }
  return merged;
}

function checkCost(name: string, cost: number): void {
  if (Number.isSafeInteger(cost) && cost >= 0) return;
  throw new HeadgateError(
    "INVALID_CHARGE",
    `policy "${name}": cost must be an integer from 0, got ${show(cost)}`,
  );
}
