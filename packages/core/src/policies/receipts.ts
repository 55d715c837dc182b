import type { Decision } from "../decision/decision.js";
import type { Limiter } from "../limiter/limiter.js";
import type { Policy } from "../policy/policy.js";
import type { ChargeReceipt, Outcome, Store } from "../store/store.js";
import { baseOf } from "./variants.js";

const used = new WeakSet<ChargeReceipt>();

/** Every outcome of a decision, those of shadow policies included. */
export function allOutcomes({ outcomes, shadows }: Decision): readonly Outcome[] {
  return shadows.length === 0 ? outcomes : [...outcomes, ...shadows];
}

/**
 * What a decision charged under a limiter's policies and nobody has taken back so far; from now on it has been.
 *
 * @param check - throws for a receipt that the caller cannot use; then none is used
 */
export function receiptsToUse<N extends string, S extends Store>(
  limiter: Limiter<N, S>,
  decision: Decision,
  check: (receipt: ChargeReceipt) => void = () => {},
): readonly ChargeReceipt[] {
  const receipts = allOutcomes(decision).flatMap(({ receipt }) =>
    receipt !== undefined && !used.has(receipt) && isOf(limiter, decision, receipt.policy)
      ? [receipt]
      : [],
  );
  for (const receipt of receipts) check(receipt);
  for (const receipt of receipts) used.add(receipt);
  return receipts;
}

// What a request has decided may stand for several limiters, each with policies of its own.
function isOf<N extends string, S extends Store>(
  limiter: Limiter<N, S>,
  { degraded }: Decision,
  policy: Policy,
): boolean {
  const own = Object.hasOwn(limiter.policies, policy.name)
    ? limiter.policies[policy.name as N]
    : undefined;
  // While the store fails, a process's share of a policy stands for the policy.
  return own !== undefined && (degraded === "local" || limiter.hasHad(baseOf(policy)));
}
