import type { Decision } from "../decision/decision.js";
import type { Answer, Limiter } from "../limiter/limiter.js";
import type { Policy } from "../policy/policy.js";
import type { ChargeReceipt, Store } from "../store/store.js";
import { allOutcomes, askWhereMade, isFirstStrike, receiptsToUse } from "./receipts.js";

/** How the work behind an admitted request went: done, failed, or given up before anybody could tell. */
export type Ending = "success" | "failure" | "abandoned";

/** Whether it matters to a decision's policies how the work goes. */
export function awaitsEnding(decision: Decision): boolean {
  return (
    decision.allowed &&
    allOutcomes(decision).some(
      ({ policy, receipt }) => receipt !== undefined && countsEndings(policy),
    )
  );
}

/** Whether a policy counts by how the work goes. */
export function countsEndings({ count, penalty }: Policy): boolean {
  return count !== "all" || penalty?.on === "failures";
}

/**
 * Tells how the work behind a decision went. What its policies do not count is given back, a success may clear a
 * subject's count, and a failure may lead to a ban. Who gives up stays counted, or nobody would wait for the
 * answer. Adapters do this by themselves. Once for a decision, as `refund`.
 */
export function conclude<N extends string, S extends Store>(
  limiter: Limiter<N, S>,
  decision: Decision,
  ending: Ending,
): Answer<S, void> {
  const receipts = receiptsToUse(limiter, decision);
  const clears = ({ policy }: ChargeReceipt): boolean =>
    ending === "success" && policy.count === "failures" && policy.onSuccess === "clear";
  const uncounted = { success: "failures", failure: "successes", abandoned: undefined }[ending];
  const refunds = receipts.filter((made) => made.policy.count === uncounted && !clears(made));
  const strikes = receipts.filter(
    (made) => ending !== "success" && made.policy.penalty?.on === "failures" && isFirstStrike(made),
  );
  return askWhereMade<N, S, void>(limiter, receipts, {
    ask: (store, isMade) => {
      const back = refunds.filter(isMade);
      const asked = [
        ...(back.length > 0 ? [store.refund(back)] : []),
        ...receipts
          .filter((made) => isMade(made) && clears(made))
          .map(({ policy, subject }) => store.reset(policy, subject, true)),
        ...strikes.filter(isMade).map(({ policy, subject }) => store.bans.strike(policy, subject)),
      ];
      return store.kind === "async" ? Promise.all(asked).then(() => {}) : undefined;
    },
    join: () => {},
  });
}
