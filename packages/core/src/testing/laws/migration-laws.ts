import { capacityOf } from "../../policy/capacity.js";
import type { Policy } from "../../policy/policy.js";
import type { Outcome } from "../../store/store.js";
import { type Answer, answerOf, expectSame, expectSameAnswer, expectThat } from "../expectation.js";
import {
  bothQueues,
  type ChangingHistory,
  expectLessOrEqual,
  look,
  moveOn,
  one,
  sameForm,
  surelyExact,
  type Taken,
  useSome,
  versionsOf,
} from "./changes.js";
import { later, stateInstant } from "./earlier.js";
import { moveOf } from "./history.js";
import type { LawBody } from "./law.js";
import { expectAsModelled } from "./model-check.js";
import { type Model, modelOf } from "./models.js";
import type { Steps } from "./steps.js";
import type { Trial } from "./trial.js";

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

function kept({ policy }: Pick<Before, "policy">, changed: Policy): boolean {
  return changed.migrate === "keep" && sameForm(policy, changed);
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

/** A clock that has gone back at a switch grants no more than one that stands where the state was written. */
export const earlierSwitch: LawBody<ChangingHistory> = function* (trial, history) {
  const [old, changed] = versionsOf(trial, history);
  if (history.rule === "reset" && !kept({ policy: old }, changed)) return;
  const subjects = ["a", "b"];
  let heldAt = 0;
  for (const [advance, cost, pick] of history.steps.slice(0, 6)) {
    trial.clock.set(trial.now + (advance > 5 ? pick % old.windowMs : advance % 3));
    const charges = subjects.map((subject) => ({ policy: old, subject, cost: 1 + (cost % 3) }));
    const [outcome] = yield* trial.apply(charges, "commit");
    if (outcome?.allowed) heldAt = stateInstant(outcome, trial.now);
  }
  if (heldAt === 0) return;
  const { windowMs } = history.share % 2 === 0 ? old : changed;
  const earlier = Math.max(0, heldAt - 1 - Math.floor((windowMs * history.share) / 50));
  const cost = 1 + (history.share % 3);
  const asked = (subject: string) => [{ policy: changed, subject, cost }];
  trial.clock.set(heldAt);
  const [there] = yield* trial.apply(asked("b"), "commit");
  trial.clock.set(earlier);
  const [back] = yield* trial.apply(asked("a"), "commit");
  const expected = later(answerOf(there as Outcome), heldAt - earlier);
  expectSameAnswer(answerOf(back as Outcome), expected, `${heldAt - earlier} ms earlier`);
  for (const waitMs of [0, 1, changed.windowMs, history.share]) {
    trial.clock.set(trial.now + waitMs);
    const looks = yield* trial.apply([...asked("a"), ...asked("b")], "peek");
    const [seen, twin] = looks.map(answerOf) as [Answer, Answer];
    expectSameAnswer(seen, twin, "what is left afterwards");
  }
};
