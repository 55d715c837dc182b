import type { Decision } from "../decision/decision.js";
import { checkCost, costFor } from "../limiter/charges.js";
import type { Answer, Cost, Limiter } from "../limiter/limiter.js";
import { policyNamed } from "../limiter/named.js";
import type { Charge, ChargeReceipt, Outcome, Store } from "../store/store.js";
import { askWhereMade, receiptsToUse } from "./receipts.js";

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
  return askWhereMade<N, S, void>(limiter, receipts, {
    ask: (store, isMade) => store.refund(receipts.filter(isMade)),
    join: () => {},
  });
}

/**
 * Corrects what a decision charged, once it is known what the work cost: the difference is given back, or
 * charged as far as capacity and the policy's `debt` have room. Once for each policy of a decision, as `refund`.
 *
 * @param cost - the whole cost of the work: one number for all policies, or numbers by policy name, which leave the
 *   others as they were charged
 * @returns an outcome for each policy that was charged more; not `allowed` where there was no room for all of it
 * @throws HeadgateError `UNKNOWN_POLICY` for a name that the limiter does not have, `INVALID_CHARGE` for a wrong cost;
 *   then nothing has been settled
 */
export function settle<N extends string, S extends Store>(
  limiter: Limiter<N, S>,
  decision: Decision,
  cost: Cost<N>,
): Answer<S, readonly Outcome[]> {
  const priced = pricedNames(limiter, cost);
  const wholeCost = ({ policy }: ChargeReceipt): number => costFor(policy.name as N, cost);
  const receipts = receiptsToUse(limiter, decision, (receipt) => {
    const { policy } = receipt;
    if (priced !== undefined && !priced.includes(policy.name)) return false;
    checkCost(policy, wholeCost(receipt));
    return true;
  });
  const refunds: ChargeReceipt[] = [];
  const charges: Charge[] = [];
  for (const paid of bySubject(receipts)) {
    const { policy, subject } = paid[0];
    let more = wholeCost(paid[0]);
    for (const receipt of paid) more -= receipt.cost;
    if (more > 0) charges.push({ policy, subject, cost: more });
    // The latest first: of a queue only the last place can be given back.
    for (const receipt of paid.reverse()) {
      if (more >= 0) break;
      const part = Math.min(receipt.cost, -more);
      refunds.push({ ...receipt, part });
      more += part;
    }
  }
  return askWhereMade<N, S, readonly Outcome[]>(limiter, receipts, {
    ask: (store, isMade) => {
      const back = refunds.filter(isMade);
      const more = charges.filter(isMade);
      const refunded = back.length > 0 ? store.refund(back) : undefined;
      const charged = more.length > 0 ? store.apply(more, "settle") : [];
      return refunded === undefined
        ? charged
        : Promise.all([charged, refunded]).then(([made]) => made);
    },
    join: (outcomes) => outcomes.flat(),
  });
}

/** The policies that a cost has numbers for; undefined for one number, which is for all of them. */
function pricedNames<N extends string>(
  { policies }: Pick<Limiter<N>, "policies">,
  cost: Cost<N>,
): readonly string[] | undefined {
  if (typeof cost !== "object" || cost === null) return undefined;
  return Object.entries(cost).flatMap(([name, number]) => {
    const policy = policyNamed(policies, name);
    return number === undefined ? [] : [policy.name];
  });
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
