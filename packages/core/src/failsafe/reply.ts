import { HeadgateError } from "../errors.js";
import type { Charge, Outcome } from "../store/store.js";

/**
 * The outcomes that a store answered to a batch.
 *
 * @throws HeadgateError `STORE_FAILURE` for anything else: a wrong number must not become a verdict
 */
export function outcomesOf(reply: unknown, batch: readonly Charge[]): readonly Outcome[] {
  const right =
    Array.isArray(reply) &&
    reply.length === batch.length &&
    batch.every((charge, index) => isOutcome(reply[index], charge));
  if (right) return reply;
  throw new HeadgateError("STORE_FAILURE", "store: the reply is not an outcome for each charge");
}

function isOutcome(value: unknown, { policy }: Charge): value is Outcome {
  if (typeof value !== "object" || value === null) return false;
  const outcome = value as Partial<Outcome>;
  return (
    outcome.policy?.name === policy.name &&
    typeof outcome.allowed === "boolean" &&
    isCount(outcome.cost) &&
    isCount(outcome.limit) &&
    isCount(outcome.remaining) &&
    (isCount(outcome.retryAfterMs) || outcome.retryAfterMs === Infinity) &&
    (isCount(outcome.nextMs) || outcome.nextMs === undefined) &&
    isCount(outcome.resetMs) &&
    isCount(outcome.banMs) &&
    isCount(outcome.delayMs)
  );
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
