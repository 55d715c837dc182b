import { capacityOf } from "../../policy/capacity.js";
import type { Policy } from "../../policy/policy.js";
import type { Outcome } from "../../store/store.js";
import { expectSame, expectThat } from "../expectation.js";
import {
  bothQueues,
  type ChangingHistory,
  capacityIsSmall,
  look,
  one,
  sameForm,
  surelyExact,
  useSome,
  versionsOf,
} from "./changes.js";
import { expectIntervals, type Passage } from "./envelopes.js";
import { moveOf } from "./history.js";
import type { LawBody } from "./law.js";
import type { Steps } from "./steps.js";
import type { Trial } from "./trial.js";
import { mostOfTwoVersions } from "./version-bounds.js";

/** A lower version goes on with a higher one's state, which is no reason to migrate it once more. */
export const versionsGoUp: LawBody<ChangingHistory> = function* (trial, history) {
  const [old, changed] = versionsOf(trial, { ...history, rule: "reset" });
  yield* useSome(trial, changed, history.steps);
  const { allowed: justNow } = yield* one(trial, changed, 1);
  const before = yield* look(trial, changed);
  if (before.resetMs === 0) return;
  const { allowed } = yield* one(trial, old, 1);
  const after = yield* look(trial, changed);
  expectThat(after.resetMs > 0, "a state that a higher version had written was reset by it again");
  // What a bucket has got back since it was charged depends on who asks.
  const retold = sameForm(old, changed) && old.algorithm === "token-bucket" && !justNow;
  if (bothQueues(old, changed) || before.remaining === 0 || retold) return;
  const used = before.limit - before.remaining + (allowed ? 1 : 0);
  if (BigInt(used) * BigInt(old.windowMs) > surelyExact) return;
  expectSame(after.remaining, Math.max(0, after.limit - used), "what the higher version has left");
};

/** Two versions that take turns on one key admit no more than their bound in any interval. */
export const twoVersions: LawBody<ChangingHistory> = function* (trial, history) {
  const versions = versionsOf(trial, history);
  if (!versions.every(capacityIsSmall)) return;
  const passages: Passage[] = [];
  let last: Outcome | undefined;
  for (const step of [...history.steps, ...history.steps]) {
    const [, cost, pick] = step;
    const policy = versions[pick % 2] as Policy;
    const [capacity, { windowMs }] = [capacityOf(policy), policy];
    const { advanceMs } = moveOf(step, { windowMs, nowMs: trial.now, capacity, last });
    trial.clock.set(trial.now + advanceMs);
    const { remaining } = yield* look(trial, policy);
    last = yield* one(trial, policy, cost < 6 ? 1 + (cost % 3) : Math.max(1, remaining));
    yield* recordUnlessGivenBack(passages, { trial, outcome: last, givenBack: pick % 5 === 0 });
  }
  expectIntervals(passages, (lengthMs) => mostOfTwoVersions(versions, history.rule, lengthMs));
};

/**
 * The same where one takes all that there is, the other as little as makes it the one that wrote last, and both come
 * back as soon as that is forgotten.
 */
export const greedyVersions: LawBody<ChangingHistory> = function* (trial, history) {
  const versions = versionsOf(trial, history);
  if (!versions.every(capacityIsSmall)) return;
  const passages: Passage[] = [];
  const greedy = history.share % 2;
  for (const [advance, cost, pick] of history.steps) {
    const { remaining } = yield* look(trial, versions[greedy] as Policy);
    const most = yield* one(trial, versions[greedy] as Policy, Math.max(1, remaining));
    yield* recordUnlessGivenBack(passages, { trial, outcome: most, givenBack: false });
    const least = yield* one(trial, versions[1 - greedy] as Policy, cost % 4 === 0 ? 2 : 1);
    const givenBack = (history.share + (pick % 8)) % 3 === 0;
    yield* recordUnlessGivenBack(passages, { trial, outcome: least, givenBack });
    const { resetMs, nextMs = 0 } = least;
    trial.clock.set(trial.now + ([0, nextMs, most.nextMs ?? 0][advance] ?? resetMs));
  }
  expectIntervals(passages, (lengthMs) => mostOfTwoVersions(versions, history.rule, lengthMs));
};

/** Whichever of two queues admits, a request leaves after the one before it, at the distance of that one's rate. */
export const queuesKeepApart: LawBody<ChangingHistory> = function* (trial, history) {
  const versions = versionsOf(trial, {
    ...history,
    rule: history.rule === "reset" ? "keep" : history.rule,
  });
  if (!versions.every(capacityIsSmall) || !bothQueues(...versions)) return;
  let before: Outcome | undefined;
  let departure = 0;
  for (const step of [...history.steps, ...history.steps]) {
    const policy = versions[step[2] % 2] as Policy;
    const [capacity, { windowMs }] = [capacityOf(policy), policy];
    const { advanceMs, cost } = moveOf(step, {
      windowMs,
      nowMs: trial.now,
      capacity,
      last: before,
    });
    trial.clock.set(trial.now + (step[0] < 4 ? advanceMs : advanceMs % 3));
    const outcome = yield* one(trial, policy, cost);
    if (outcome.receipt === undefined) continue;
    const next = trial.now + outcome.delayMs;
    if (before !== undefined) {
      const { limit, windowMs } = before.policy;
      expectThat(
        (next - departure + 1) * limit > before.cost * windowMs,
        `departures at ${departure}, of ${before.cost} at ${limit} in ${windowMs} ms, and at ${next}`,
      );
    }
    [before, departure] = [outcome, next];
  }
};

/** Notes what was charged, or gives it back at once, as what does not count is. */
function* recordUnlessGivenBack(
  passages: Passage[],
  { trial, outcome, givenBack }: { trial: Trial; outcome: Outcome; givenBack: boolean },
): Steps<void> {
  const { receipt, delayMs } = outcome;
  if (receipt === undefined) return;
  if (givenBack) yield* trial.refund(receipt);
  else passages.push({ at: trial.now, cost: receipt.cost, delayMs });
}
