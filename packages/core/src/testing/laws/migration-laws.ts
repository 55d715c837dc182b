import { capacityOf } from "../../policy/capacity.js";
import type { Policy } from "../../policy/policy.js";
import type { Outcome } from "../../store/store.js";
import { expectSame, expectThat } from "../expectation.js";
import {
  type ChangingHistory,
  expectLessOrEqual,
  look,
  moveOn,
  one,
  type Taken,
  useSome,
  versionsOf,
} from "./changes.js";
import { moveOf } from "./history.js";
import type { LawBody } from "./law.js";
import { expectAsModelled } from "./model-check.js";
import { type Model, modelOf } from "./models.js";
import type { Steps } from "./steps.js";
import type { Trial } from "./trial.js";

/** Numbers above this may be cut to what is exact: what is left is told right, and waits are shorter. */
const surelyExact = 2n ** 51n;

/** What there was before a switch. */
interface Before {
  readonly policy: Policy;
  readonly taken: readonly Taken[];
  readonly outcome: Outcome;
}

/** A state goes on under another policy as the rule says, to the last number of every later answer. */
export const goesOnByTheRule: LawBody<ChangingHistory> = function* (trial, history) {
  const [old, changed] = versionsOf(trial, history);
  const taken = yield* useSome(trial, old, history.steps);
  moveOn(trial, old, history.share);
  const before = { policy: old, taken, outcome: yield* look(trial, old) };
  // How windows are anchored is no part of a form, so a window goes on where it began.
  if (kept(before, changed) && anchorOf(old) !== anchorOf(changed)) return;
  const model = modelAfter(before, changed, { now: trial.now, rule: history.rule });
  const first = yield* look(trial, changed);
  expectThat(
    model.admits(trial.now, first.remaining) && !model.admits(trial.now, first.remaining + 1),
    `what is left after the switch is not ${first.remaining}`,
  );
  if (history.rule !== "reset" && !kept(before, changed) && !bothQueues(old, changed)) {
    const { limit, remaining } = before.outcome;
    const most = Math.max(limit, first.limit);
    expectLessOrEqual(limit - remaining + first.remaining, most, "what both admit at the switch");
  }
  if (model.owed(trial.now) > surelyExact || largestTaken(before) > surelyExact) return;
  yield* expectModelled(trial, changed, { history, model });
};

/** What a definition says after a switch, by the rules for changed policies and in arithmetic without bounds. */
function modelAfter(
  { policy: old, taken, outcome: { limit, remaining, resetMs } }: Before,
  changed: Policy,
  { now, rule }: { now: number; rule: Policy["migrate"] },
): Model {
  const model = modelOf(changed);
  if (rule === "reset" || resetMs === 0) return model;
  if (old.algorithm === "token-bucket" || old.algorithm === "leaky-bucket") {
    const last = taken.at(-1)?.at ?? now;
    const stays = rule === "keep" && sameForm(old, changed);
    // The units depend on the window alone: what was owed when the state was last written is owed on.
    if (stays && (old.algorithm === "token-bucket" || old.limit === changed.limit)) {
      model.owe(last, owedAfter(old, taken, last));
      return model;
    }
  } else if (rule === "keep" && sameForm(old, changed)) {
    for (const { at, cost } of taken) model.take(at, cost);
    return model;
  }
  if (bothQueues(old, changed)) {
    model.owe(now, BigInt(resetMs) * BigInt(changed.limit));
    return model;
  }
  const used = BigInt(limit - remaining);
  const scaled = (used * BigInt(capacityOf(changed)) + BigInt(limit) - 1n) / BigInt(limit);
  model.take(now, Number(rule === "scale" ? scaled : used));
  return model;
}

function owedAfter(policy: Policy, taken: readonly Taken[], at: number): bigint {
  const model = modelOf(policy);
  for (const { at, cost } of taken) model.take(at, cost);
  return model.owed(at);
}

function largestTaken({ policy, outcome }: Before): bigint {
  return BigInt(outcome.limit - outcome.remaining) * BigInt(policy.windowMs);
}

function sameForm(old: Policy, changed: Policy): boolean {
  return old.algorithm === changed.algorithm && old.windowMs === changed.windowMs;
}

function kept({ policy }: Before, changed: Policy): boolean {
  return changed.migrate === "keep" && sameForm(policy, changed);
}

function bothQueues(old: Policy, changed: Policy): boolean {
  return old.algorithm === "leaky-bucket" && changed.algorithm === "leaky-bucket";
}

function anchorOf(policy: Policy): string | undefined {
  return policy.algorithm === "fixed-window" ? policy.anchor : undefined;
}

/** Lives on under a policy, every answer as a model says. */
function* expectModelled(
  trial: Trial,
  policy: Policy,
  { history, model }: { history: ChangingHistory; model: Model },
): Steps<void> {
  let last: Outcome | undefined;
  const capacity = capacityOf(policy);
  for (const step of history.steps.slice(-8)) {
    const { windowMs } = policy;
    const { advanceMs, cost, mode } = moveOf(step, { windowMs, nowMs: trial.now, capacity, last });
    const [outcome] = yield* trial.apply([{ policy, subject: "a", cost }], mode);
    last = outcome as Outcome;
    expectAsModelled(last, model, { now: trial.now, charged: mode === "commit" });
    // Looked at, a state is not left converted: the switch is at the first call that may write.
    if (mode === "peek") continue;
    trial.clock.set(trial.now + advanceMs);
  }
}

/** What is refused right after a switch is admitted at the promised instant, and no earlier. */
export const honestAfterSwitch: LawBody<ChangingHistory> = function* (trial, history) {
  const [old, changed] = versionsOf(trial, history);
  yield* useSome(trial, old, history.steps);
  moveOn(trial, old, history.share);
  const { remaining } = yield* look(trial, changed);
  const cost = Math.min(capacityOf(changed), remaining + 1);
  const refused = yield* one(trial, changed, cost);
  if (refused.allowed) return;
  const { now } = trial;
  trial.clock.set(now + refused.retryAfterMs - 1);
  expectSame((yield* look(trial, changed, cost)).allowed, false, "one millisecond too early");
  trial.clock.set(now + refused.retryAfterMs);
  expectSame((yield* one(trial, changed, cost)).allowed, true, "at the promised instant");
};

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

/** Two versions that take turns on one key admit no more than their bound in a window. */
export const twoVersions: LawBody<ChangingHistory> = function* (trial, history) {
  const windowMs = 1_000_000;
  const { rule, share, steps, policy, other } = history;
  const limits = [1 + (share % 20), 1 + (steps.length % 20)];
  const [first, second] = [policy, other].map(
    (input) => (input as Pick<Policy, "algorithm">).algorithm,
  ) as [Policy["algorithm"], Policy["algorithm"]];
  // Of two queues the next free slot keeps its instant, not the number of those who wait.
  const queues = first === "leaky-bucket" && second === "leaky-bucket";
  const algorithms = [first, queues ? "token-bucket" : second];
  const [old, changed] = limits.map((limit, index) =>
    trial.named("pair", {
      algorithm: algorithms[index],
      limit,
      windowMs,
      version: index + 1,
      migrate: rule,
      ...(algorithms[index] === "leaky-bucket" && { queue: limit - 1, maxDelayMs: windowMs }),
    }),
  ) as [Policy, Policy];
  trial.clock.set(trial.now - (trial.now % windowMs) + windowMs);
  // Nothing comes back within a window, but to buckets.
  const passes = !algorithms.some((algorithm) => algorithm?.endsWith("bucket"));
  let admitted = 0;
  for (const [advance, cost, pick] of [...steps, ...steps]) {
    if (passes) trial.clock.set(trial.now + advance * 1_000);
    const units = 1 + (cost % 4);
    if ((yield* one(trial, pick % 2 === 0 ? old : changed, units)).allowed) admitted += units;
  }
  expectLessOrEqual(admitted, boundOf(rule, limits as [number, number]), "what two versions admit");
};

function boundOf(rule: Policy["migrate"], [old, changed]: readonly [number, number]): number {
  const most = Math.max(old, changed);
  if (rule === "keep") return most;
  // A full old state shrinks to a full new one, of which the old version sees little.
  if (rule === "scale") return most + Math.max(0, old - changed);
  return old + most;
}
