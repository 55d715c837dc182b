import type { Decision } from "../decision/decision.js";
import { checkCost, costFor } from "../limiter/charges.js";
import type { Answer, Cost, Limiter } from "../limiter/limiter.js";
import type { Charge, ChargeReceipt, Outcome, Store } from "../store/store.js";
import { receiptsToUse } from "./receipts.js";

/**
 * Gives back what a decision charged, as far as it still counts. Once for a decision: what has been given back,
 * settled or concluded is left alone.
 *
 * @returns rejects with a `STORE_` error where an asynchronous store fails
 */
export function refund<N extends string, S extends Store>(
  limiter: Limiter<N, S>,
  decision: Decision,
): Answer<S, void> {
  const receipts = receiptsToUse(limiter, decision);
  return limiter.ask<void>((store) => store.refund(receipts), decision.degraded === "local");
}

/**
 * Corrects what a decision charged, once it is known what the work cost: the difference is given back, or
 * charged as far as capacity and the policy's `debt` have room. Once for a decision, as `refund`.
 *
 * @param cost - the whole cost of the work: one number, or numbers by policy name, 1 for the others
 * @returns an outcome for each policy that was charged more; not `allowed` where there was no room for all of it
 * @throws HeadgateError `INVALID_CHARGE` for a wrong cost
 */
export function settle<N extends string, S extends Store>(
  limiter: Limiter<N, S>,
  decision: Decision,
  cost: Cost<N>,
): Answer<S, readonly Outcome[]> {
  const wholeCost = ({ policy }: ChargeReceipt): number => {
    const whole = costFor(policy.name as N, cost);
    checkCost(policy, whole);
    return whole;
  };
  const refunds: ChargeReceipt[] = [];
  const charges: Charge[] = [];
  for (const receipts of bySubject(receiptsToUse(limiter, decision, wholeCost))) {
    const { policy, subject } = receipts[0];
    let more = wholeCost(receipts[0]);
    for (const { cost: paid } of receipts) more -= paid;
    if (more > 0) charges.push({ policy, subject, cost: more });
    // The latest first: of a queue only the last place can be given back.
    for (const receipt of receipts.reverse()) {
      if (more >= 0) break;
      const part = Math.min(receipt.cost, -more);
      refunds.push({ ...receipt, part });
      more += part;
    }
  }
  return limiter.ask<readonly Outcome[]>((store) => {
    const refunded = refunds.length > 0 ? store.refund(refunds) : undefined;
    const charged = charges.length > 0 ? store.apply(charges, "settle") : [];
    return refunded === undefined
      ? charged
      : Promise.all([charged, refunded]).then(([made]) => made);
  }, decision.degraded === "local");
}

/** A request can have paid for one policy and subject in several steps. */
function bySubject(
  receipts: readonly ChargeReceipt[],
): readonly [ChargeReceipt, ...ChargeReceipt[]][] {
  const groups = new Map<string, [ChargeReceipt, ...ChargeReceipt[]]>();
  for (const receipt of receipts) {
    const name = `${receipt.policy.name}:${receipt.subject}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [receipt]);
    else group.push(receipt);
  }
  return [...groups.values()];
}
