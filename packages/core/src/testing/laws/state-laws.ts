import type { Millis } from "../../clock.js";
import type { Outcome } from "../../store/store.js";
import { nastySubjects } from "../conformance/sample-policies.js";
import { answerOf, expectSame, expectSameAnswer, expectThat, text } from "../expectation.js";
import { expectTwins } from "./decision-laws.js";
import { later, stateInstant } from "./earlier.js";
import type { LawBody } from "./law.js";
import { expectAsModelled } from "./model-check.js";
import { type Model, modelOf } from "./models.js";
import type { Trial } from "./trial.js";

const sweepingCalls = 64;

/** Peeks and calls of cost 0 change nothing, and report what a call would meet. */
export const peekChangesNothing: LawBody = function* (trial, history) {
  for (const move of trial.walk(history)) {
    expectThat((yield* trial.commit(0)).allowed, "cost 0 is always admitted");
    const peeked = yield* trial.look(move.cost);
    const outcome = yield* trial.make({ ...move, mode: "commit" });
    expectSame(
      [peeked.allowed, peeked.retryAfterMs, peeked.delayMs],
      [outcome.allowed, outcome.retryAfterMs, outcome.delayMs],
      "a peek, against the call after it",
    );
    const taken = outcome.allowed ? move.cost : 0;
    expectSame(outcome.remaining, peeked.remaining - taken, "remaining after the call");
    if (move.cost > 0) yield* trial.commit(move.cost, "twin");
    yield* expectTwins(trial, "a key that was looked at");
  }
};

/** Dropping a key at its expiry changes nothing, and a store that drops keys drops none before and all after. */
export const forgettable: LawBody = function* (trial, history) {
  const model = modelOf(trial.policy);
  let resetAt = trial.now;
  for (const move of trial.walk(history)) {
    if (trial.now >= resetAt) yield* trial.reset("twin");
    // A store sweeps while it serves others: if it forgot too early, the model would tell.
    yield* trial.commit(1, "other");
    yield* trial.commit(1, "other");
    const outcome = yield* trial.make(move);
    const charged = move.mode === "commit";
    expectAsModelled(outcome, model, { now: trial.now, charged });
    const twin = yield* trial.make(move, "twin");
    expectSameAnswer(answerOf(twin), answerOf(outcome), "a key that was dropped at its expiry");
    resetAt = trial.now + outcome.resetMs;
  }
  trial.clock.set(resetAt);
  for (let call = 0; call < sweepingCalls; call += 1) yield* trial.commit(1, "other");
  const { store } = trial;
  if ("size" in store) expectSame(store.size, 1, "keys kept when all but one have expired");
};

/** Keys of one store are decided as if each were alone. */
export const isolated: LawBody = function* (trial, history) {
  const models = new Map<string, Model>();
  for (const move of trial.walk(history)) {
    const subject = nastySubjects[move.pick % nastySubjects.length] as string;
    for (const key of ["a", subject]) {
      const model = models.get(key) ?? modelOf(trial.policy);
      models.set(key, model);
      const outcome = yield* trial.make(move, key);
      expectAsModelled(outcome, model, { now: trial.now, charged: move.mode === "commit" });
    }
  }
};

/** A clock that steps back is as one that stood still at the state's instant, with the waits longer by the step. */
export const clockSteps: LawBody = function* (trial, history) {
  let held: { at: Millis; until: Millis } | undefined;
  let floorMs = 0;
  for (const move of trial.walk(history)) {
    const backMs = stepBack(move.pick, trial);
    const now = Math.max(floorMs, trial.now - backMs);
    const stoodAt = Math.max(now, held?.at ?? 0);
    trial.clock.set(now);
    const outcome = yield* trial.make(move);
    trial.clock.set(stoodAt);
    const twin = yield* trial.make(move, "twin");
    expectSameAnswer(
      answerOf(outcome),
      later(answerOf(twin), stoodAt - now),
      `a call ${stoodAt - now} ms before the state's instant`,
    );
    const taken = move.mode === "commit" && move.cost > 0 && outcome.allowed;
    if (taken) held = { at: stateInstant(twin, stoodAt), until: stoodAt + twin.resetMs };
    if (taken) floorMs = 0;
    // An expired state may or may not have been dropped, which an earlier clock could tell.
    else if (held !== undefined && stoodAt >= held.until) floorMs = stoodAt;
    else if (held === undefined) floorMs = 0;
    trial.clock.set(now);
  }
};

/** The same history has the same answers as the definition, to the last number. */
export const sameEverywhere: LawBody = function* (trial, history) {
  const model = modelOf(trial.policy);
  for (const move of trial.walk(history)) {
    const outcome = yield* trial.make(move);
    expectAsModelled(outcome, model, { now: trial.now, charged: move.mode === "commit" });
  }
};

/** What a call returned never changes afterwards. */
export const snapshots: LawBody = function* (trial, history) {
  const kept: { outcome: Outcome; was: string }[] = [];
  for (const move of trial.walk(history)) {
    const outcome = yield* trial.make(move);
    kept.push({ outcome, was: text(outcome) });
    if (outcome.receipt !== undefined && move.pick % 4 === 0) yield* trial.refund(outcome.receipt);
  }
  for (const { outcome, was } of kept) expectSame(text(outcome), was, "an earlier outcome");
  expectThat(
    new Set(kept.map(({ outcome }) => outcome)).size === kept.length,
    "each call answers afresh",
  );
};

function stepBack(pick: number, { policy, now }: Trial): Millis {
  const steps = [0, 1, pick % 7, policy.windowMs, pick % policy.windowMs, 3 * policy.windowMs, now];
  return steps[pick % steps.length] as Millis;
}
