import type { Policy } from "../../policy/policy.js";
import type { ChargeReceipt, Outcome } from "../../store/store.js";
import { expectSame, expectThat } from "../expectation.js";
import { type ChangingHistory, changed, look, one, useSome } from "./changes.js";
import type { LawBody } from "./law.js";
import { expectAsModelled } from "./model-check.js";
import { modelOf } from "./models.js";
import type { Trial } from "./trial.js";

/** Two tiers of one policy: the same name and window, other numbers. */
function tiersOf(trial: Trial, { policy, share }: ChangingHistory): readonly [Policy, Policy] {
  return [trial.named("tiered", policy), trial.named("tiered", changed(policy, 1 + share))];
}

/** Each tier decides by its own numbers over what all of them have used. */
export const tiersShare: LawBody<ChangingHistory> = function* (trial, history) {
  const tiers = tiersOf(trial, history);
  const models = tiers.map(modelOf);
  const bucket = tiers[0].algorithm.endsWith("bucket");
  for (const [advance, cost, pick] of history.steps) {
    const { windowMs } = tiers[0];
    // How fast a bucket gets back what it is owed depends on who asks, so of these it is one instant.
    if (!bucket) trial.clock.set(trial.now + (advance < 3 ? pick % windowMs : advance % 3));
    const at = pick % 2;
    const policy = tiers[at] as Policy;
    const [outcome] = yield* trial.apply([{ policy, subject: "a", cost }], "commit");
    const { receipt } = outcome as Outcome;
    expectAsModelled(outcome as Outcome, models[at] as never, { now: trial.now, charged: true });
    if (receipt !== undefined) models[1 - at]?.take(trial.now, cost);
  }
};

/** A state is gone when it can no longer be told from an untouched one under the numbers it was written with. */
export const tiersExpire: LawBody<ChangingHistory> = function* (trial, history) {
  const [writer, reader] = tiersOf(trial, history);
  yield* useSome(trial, writer, history.steps);
  const { resetMs } = yield* look(trial, writer);
  trial.clock.set(trial.now + resetMs);
  const seen = yield* look(trial, reader);
  expectSame([seen.remaining, seen.resetMs], [seen.limit, 0], "what another tier finds");
};

/** A refund gives back at most its due whoever looks, also where another tier has been charged since. */
export const tiersRefund: LawBody<ChangingHistory> = function* (trial, history) {
  const tiers = tiersOf(trial, history);
  const receipts: ChargeReceipt[] = [];
  for (const [advance, cost, pick] of history.steps) {
    trial.clock.set(trial.now + (advance < 4 ? pick % tiers[0].windowMs : advance % 3));
    const { receipt } = yield* one(trial, tiers[pick % 2] as Policy, cost);
    if (receipt !== undefined) receipts.push(receipt);
    const [given] = receipts.splice(pick % (receipts.length + 2), 1);
    if (given === undefined) continue;
    const before = [yield* look(trial, tiers[0]), yield* look(trial, tiers[1])];
    yield* trial.refund(given);
    for (const [index, { remaining, resetMs }] of before.entries()) {
      const after = yield* look(trial, tiers[index] as Policy);
      const gained = after.remaining - remaining;
      // Where all that is left has expired under its own numbers, it goes at once.
      const gone = after.resetMs === 0;
      expectThat(
        gained >= 0 && (gained <= given.cost || gone) && after.resetMs <= resetMs,
        () => `a refund of ${given.cost} raises remaining by ${gained}`,
      );
    }
  }
};
