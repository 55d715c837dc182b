import type { Millis } from "../../clock.js";
import { answerOf, expectSame, expectSameAnswer, expectThat } from "../expectation.js";
import type { LawBody } from "./law.js";
import type { Steps } from "./steps.js";
import type { Trial } from "./trial.js";

const singlesTried = 40;

/** Refused and peeked calls change no other decision: a twin that never made them is in the same state. */
export const refusalIsFree: LawBody = function* (trial, history) {
  for (const move of trial.walk(history)) {
    yield* trial.commit(trial.capacity + 1);
    const outcome = yield* trial.make(move);
    yield* trial.look(move.cost);
    if (outcome.allowed && move.mode === "commit" && move.cost > 0) {
      const twin = yield* trial.commit(move.cost, "twin");
      expectSameAnswer(answerOf(outcome), answerOf(twin), "the call of a key with refusals");
    }
    const full = yield* trial.look(1);
    if (!full.allowed) yield* trial.commit(1);
    yield* expectTwins(trial, "a key with refusals");
  }
};

/** Refused with a wait of r: still refused at every instant before, and admitted at exactly that one. */
export const honestWait: LawBody = function* (trial, history) {
  for (const move of trial.walk(history)) {
    const outcome = yield* trial.make(move);
    for (const cost of new Set([move.cost, outcome.remaining + 1, trial.capacity])) {
      const { allowed, retryAfterMs } = yield* trial.look(cost);
      expectThat(
        allowed === (retryAfterMs === 0),
        "a wait of 0 means admitted, and nothing else does",
      );
      if (!allowed && retryAfterMs !== Infinity)
        yield* expectFirstPasses(trial, retryAfterMs, { cost, pick: move.pick });
    }
    if (outcome.nextMs !== undefined) {
      const cost = outcome.remaining + 1;
      yield* expectFirstPasses(trial, outcome.nextMs, { cost, pick: move.pick });
    }
  }
};

/** Remaining is admitted and one more is not, as one call or as single ones. */
export const honestRemaining: LawBody = function* (trial, history) {
  for (const move of trial.walk(history)) {
    yield* trial.make(move);
    yield* trial.make(move, "twin");
    const { remaining } = yield* trial.look(0);
    expectThat(remaining >= 0 && remaining <= trial.capacity, "remaining lies within the capacity");
    const all = yield* trial.look(remaining);
    expectThat(all.allowed, "a call of cost remaining is admitted");
    const more = yield* trial.look(remaining + 1);
    expectThat(!more.allowed, "a call of cost remaining + 1 is refused");
  }
  let left = (yield* trial.look(0)).remaining;
  if (left > singlesTried) left = (yield* trial.commit(left - singlesTried)).remaining;
  for (; left > 0; left -= 1) {
    const single = yield* trial.commit(1);
    expectSame([single.allowed, single.remaining], [true, left - 1], "a single call of remaining");
  }
  expectThat(!(yield* trial.commit(1)).allowed, "the single call after remaining is refused");
};

/** At the reset the key cannot be told from an untouched one; one millisecond earlier it can. */
export const honestReset: LawBody = function* (trial, history) {
  for (const move of trial.walk(history)) {
    yield* trial.make(move);
    const { resetMs } = yield* trial.look(0);
    const resetAt = trial.now + resetMs;
    for (const cost of [0, 1, trial.capacity]) {
      const used = yield* trial.lookAt(resetAt, cost);
      const untouched = yield* trial.lookAt(resetAt, cost, "never seen");
      expectSameAnswer(answerOf(used), answerOf(untouched), "a look at the reset");
    }
    if (resetMs === 0) continue;
    const early = yield* trial.lookAt(resetAt - 1, trial.capacity);
    const tells = !early.allowed || early.delayMs > 0;
    expectThat(tells, "one millisecond before the reset, a call of the capacity tells");
  }
};

/** A cost above the capacity is refused without an instant, on every state, and leaves it untouched. */
export const neverIsNever: LawBody = function* (trial, history) {
  for (const move of trial.walk(history)) {
    yield* trial.make(move);
    const before = answerOf(yield* trial.look(1));
    for (const cost of [trial.capacity + 1, 2 * trial.capacity, Number.MAX_SAFE_INTEGER]) {
      if (cost <= trial.capacity) continue;
      const { allowed, retryAfterMs, delayMs } = yield* trial.commit(cost);
      expectSame([allowed, retryAfterMs, delayMs], [false, Infinity, 0], "more than the capacity");
    }
    expectSameAnswer(answerOf(yield* trial.look(1)), before, "a look after what can never fit");
    const { retryAfterMs } = yield* trial.look(trial.capacity);
    expectThat(retryAfterMs !== Infinity, "the capacity itself fits in the end");
  }
};

/** What is admitted would be at every smaller cost, and at every later instant. */
export const monotone: LawBody = function* (trial, history) {
  for (const move of trial.walk(history)) {
    yield* trial.make(move);
    const cost = 1 + (move.pick % trial.capacity);
    const { allowed, remaining, resetMs } = yield* trial.look(cost);
    for (const smaller of new Set([cost - 1, Math.floor(cost / 2), 1])) {
      const { allowed: passes } = yield* trial.look(smaller);
      expectThat(passes || !allowed, `cost ${smaller} is admitted when ${cost} is`);
    }
    const { windowMs } = trial.policy;
    const toGridMs = windowMs - (trial.now % windowMs);
    const waits = [1, toGridMs - 1, toGridMs, windowMs, resetMs, move.pick % (2 * windowMs)];
    for (const waitMs of new Set(waits)) {
      const later = yield* trial.lookAt(trial.now + waitMs, remaining);
      expectThat(later.allowed, `cost ${remaining} is admitted ${waitMs} ms later too`);
    }
  }
};

/** At one instant, a and then b is a + b: the same verdict, and the same state after. */
export const additive: LawBody = function* (trial, history) {
  for (const move of trial.walk(history)) {
    yield* trial.make(move);
    yield* trial.make(move, "twin");
    const { remaining } = yield* trial.look(0);
    const first = 1 + (move.pick % (Math.min(remaining, 4) + 1));
    const second = 1 + (Math.floor(move.pick / 7) % (Math.min(remaining, 5) + 1));
    const both = yield* trial.look(first + second, "twin");
    const one = yield* trial.commit(first);
    if (!one.allowed) {
      expectThat(!both.allowed, "a refused alone is refused together with b");
      continue;
    }
    const other = yield* trial.look(second);
    expectThat(other.allowed === both.allowed, "b after a has the verdict of a + b");
    if (!both.allowed) {
      yield* trial.commit(first, "twin");
      continue;
    }
    yield* trial.commit(second);
    const together = yield* trial.commit(first + second, "twin");
    expectSame(together.delayMs, one.delayMs, "the hold of a + b, against that of a");
    yield* expectTwins(trial, "a and then b");
  }
};

/** Expects two keys to answer alike, now, for a small, a fitting and a large cost. */
export function* expectTwins(trial: Trial, what: string, twin = "twin"): Steps<void> {
  const { remaining } = yield* trial.look(0);
  for (const cost of new Set([1, remaining + 1, trial.capacity])) {
    const one = yield* trial.look(cost);
    const other = yield* trial.look(cost, twin);
    expectSameAnswer(answerOf(one), answerOf(other), `${what}, looked at with cost ${cost}`);
  }
}

function* expectFirstPasses(
  trial: Trial,
  waitMs: Millis,
  { cost, pick }: { cost: number; pick: number },
): Steps<void> {
  expectThat(
    Number.isSafeInteger(waitMs) && waitMs > 0,
    `a wait is a positive integer, got ${waitMs}`,
  );
  for (const early of instantsBefore(waitMs, pick)) {
    const look = yield* trial.lookAt(trial.now + early, cost);
    expectThat(!look.allowed, `cost ${cost} is refused ${early} ms into a wait of ${waitMs}`);
    expectSame(look.retryAfterMs, waitMs - early, `the rest of the wait of cost ${cost}`);
  }
  const { allowed } = yield* trial.lookAt(trial.now + waitMs, cost);
  expectThat(allowed, `cost ${cost} is admitted after its wait of ${waitMs}`);
}

/** All instants of a short wait, and the telling ones of a long one. */
function instantsBefore(waitMs: Millis, pick: number): Iterable<Millis> {
  if (waitMs <= 8) return Array.from({ length: waitMs }, (_, index) => index);
  return new Set([1, Math.floor(waitMs / 2), pick % waitMs, waitMs - 1]);
}
