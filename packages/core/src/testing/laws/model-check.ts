import type { Millis } from "../../clock.js";
import type { Outcome } from "../../store/store.js";
import { expectThat } from "../expectation.js";
import type { Model } from "./models.js";

/**
 * Expects every number of an outcome to be what a model says, and lets the model take what was charged.
 *
 * @throws Error naming the field that differs
 */
export function expectAsModelled(
  outcome: Outcome,
  model: Model,
  { now, charged }: { now: Millis; charged: boolean },
): void {
  const { allowed, cost, limit, remaining, retryAfterMs, nextMs, resetMs, delayMs } = outcome;
  const expectField = (field: keyof Outcome, holds: boolean): void =>
    expectThat(holds, () => `${field} ${String(outcome[field])} is not what the definition says`);
  const firstPasses = (waitMs: Millis, wanted: number): boolean =>
    waitMs >= 1 && model.admits(now + waitMs, wanted) && !model.admits(now + waitMs - 1, wanted);

  expectField("allowed", allowed === model.admits(now, cost));
  if (allowed) expectField("retryAfterMs", retryAfterMs === 0);
  else if (cost > limit) expectField("retryAfterMs", retryAfterMs === Infinity);
  else expectField("retryAfterMs", firstPasses(retryAfterMs, cost));
  expectField("delayMs", delayMs === (allowed && cost > 0 ? model.delayMs(now) : 0));

  if (allowed && charged) model.take(now, cost);
  const isRemaining = model.admits(now, remaining) && !model.admits(now, remaining + 1);
  expectField("remaining", remaining >= 0 && remaining <= limit && isRemaining);
  if (remaining === limit) expectField("nextMs", nextMs === undefined);
  else expectField("nextMs", nextMs !== undefined && firstPasses(nextMs, remaining + 1));
  const isFirstReset = resetMs === 0 || (resetMs > 0 && !model.untouched(now + resetMs - 1));
  expectField("resetMs", isFirstReset && model.untouched(now + resetMs));
}
