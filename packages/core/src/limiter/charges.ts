import { HeadgateError, show } from "../errors.js";
import { ownValue } from "../own-value.js";
import type { Policy } from "../policy/policy.js";
import { countsOnSame } from "../store/batch.js";
import type { Charge } from "../store/store.js";
import type { Cost } from "./limiter.js";

/** What a cost means for one policy. The number is as it was given, right or wrong. */
export function costFor<N extends string>(name: N, cost: Cost<N>): number {
  if (typeof cost !== "object" || cost === null) return cost;
  const own = ownValue<number | undefined>(cost, name);
  return own === undefined ? 1 : own;
}

/**
 * Checks charges and makes one of several that name the same policy and subject: the dearest.
 *
 * @throws HeadgateError `INVALID_CHARGE` for no charge, a wrong cost or subject, or two leaky buckets
 */
export function mergeCharges(charges: readonly Charge[]): readonly Charge[] {
  if (charges.length === 0) throw new HeadgateError("INVALID_CHARGE", "decide: name a charge");
  for (const charge of charges) checkCharge(charge);
  if (charges.length === 1) return charges;
  const merged: Charge[] = [];
  for (const charge of charges) {
    const at = merged.findIndex((other) => countsOnSame(other, charge));
    if (at < 0) merged.push(charge);
    else if (charge.cost > (merged[at] as Charge).cost) merged[at] = charge;
  }
  const queues = merged.filter(
    ({ policy }) => policy.algorithm === "leaky-bucket" && !policy.shadow,
  );
  if (queues.length > 1) {
    const names = queues.map(({ policy }) => `"${policy.name}"`).join(" and ");
    throw new HeadgateError(
      "INVALID_CHARGE",
      `policies ${names}: a request can wait in one leaky bucket at most`,
    );
  }
  return merged;
}

function checkCharge({ policy, subject, cost }: Charge): void {
  if (typeof subject !== "string" || subject === "")
    throw invalidCharge(policy, "subject must be text that is not empty", subject);
  checkCost(policy, cost);
}

/** @throws HeadgateError `INVALID_CHARGE` for anything but an integer from 0 */
export function checkCost(policy: Policy, cost: number): void {
  if (!(Number.isSafeInteger(cost) && cost >= 0))
    throw invalidCharge(policy, "cost must be an integer from 0", cost);
}

function invalidCharge({ name }: Policy, rule: string, value: unknown): HeadgateError {
  return new HeadgateError("INVALID_CHARGE", `policy "${name}": ${rule}, got ${show(value)}`);
}
