import type { Millis } from "../../clock.js";
import type { Policy } from "../../policy/policy.js";
import type { ChargeReceipt, Outcome } from "../../store/store.js";
import { answerOf, expectSame, expectSameAnswer, expectThat } from "../expectation.js";
import { expectTwins } from "./decision-laws.js";
import type { LawBody } from "./law.js";

/** A charge that is refunded at once has not happened: a twin that never made it is in the same state. */
export const refundUndoes: LawBody = function* (trial, history) {
  for (const move of trial.walk(history)) {
    const { receipt } = yield* trial.commit(1 + (move.pick % trial.capacity));
    if (receipt !== undefined) yield* trial.refund(receipt);
    yield* expectTwins(trial, "a key with a refunded charge");
    const outcome = yield* trial.make(move);
    const twin = yield* trial.make(move, "twin");
    expectSameAnswer(answerOf(outcome), answerOf(twin), "the call after a refunded charge");
  }
};

/** A part that is given back, at once or later, makes of a charge a smaller one. */
export const partRefund: LawBody = function* (trial, history) {
  const { policy } = trial;
  for (const move of trial.walk(history)) {
    const cost = 1 + (move.pick % trial.capacity);
    const part = 1 + (Math.floor(move.pick / 3) % cost);
    const taken = yield* trial.commit(cost);
    if (taken.receipt === undefined) continue;
    yield* trial.commit(cost - part, "twin");
    // Of a queue the place is given back at once, or never.
    const life = policy.algorithm === "leaky-bucket" ? 1 : lifeOf(policy, trial.now, taken);
    trial.clock.set(trial.now + (move.pick % life));
    yield* trial.refund({ ...taken.receipt, part });
    yield* expectTwins(trial, "a charge of which a part was given back");
  }
};

/** A refund gives back at most what was taken, never more than the capacity, and puts no reset off. */
export const refundIsBounded: LawBody = function* (trial, history) {
  const receipts: ChargeReceipt[] = [];
  for (const move of trial.walk(history)) {
    // Receipts from before a reset may find less than they took.
    if (move.pick % 5 === 0) yield* trial.reset("a");
    const { receipt } = yield* trial.make(move);
    if (receipt !== undefined) receipts.push(receipt);
    const [given] = receipts.splice(move.pick % (receipts.length + 2), 1);
    if (given === undefined) continue;
    const before = yield* trial.look(0);
    yield* trial.refund(given);
    const after = yield* trial.look(0);
    const gained = after.remaining - before.remaining;
    expectThat(
      gained >= 0 && gained <= given.cost && after.remaining <= trial.capacity,
      `a refund of ${given.cost} raises remaining by ${gained}`,
    );
    expectThat(after.resetMs <= before.resetMs, "a refund puts no reset off");
  }
};

/** A refund of what has been reset, or has expired, leaves the key untouched and creates none. */
export const refundCreatesNothing: LawBody = function* (trial, history) {
  for (const move of trial.walk(history)) {
    const outcome = yield* trial.make({ ...move, mode: "commit" });
    if (outcome.receipt === undefined) continue;
    const expires = move.pick % 2 === 0;
    if (expires) trial.clock.set(trial.now + outcome.resetMs);
    else yield* trial.reset("a");
    const kept = sizeOf(trial.store);
    yield* trial.refund(outcome.receipt);
    expectThat(sizeOf(trial.store) <= kept, "a refund creates no key");
    yield* expectTwins(trial, "a key after a late refund", "never seen");
  }
};

/** A refund that comes when its charge no longer counts changes nothing. */
export const lateRefund: LawBody = function* (trial, history) {
  const charges: { receipt: ChargeReceipt; endsAt: Millis }[] = [];
  for (const move of trial.walk(history)) {
    const outcome = yield* trial.make(move);
    yield* trial.make(move, "twin");
    for (const { receipt, endsAt } of charges.splice(0)) {
      if (trial.now >= endsAt) yield* trial.refund(receipt);
      else charges.push({ receipt, endsAt });
    }
    yield* expectTwins(trial, "a key with late refunds");
    const { receipt } = outcome;
    if (receipt === undefined) continue;
    // In a leaky bucket, a slot with another behind it cannot be given back.
    if (trial.policy.algorithm === "leaky-bucket")
      for (const charge of charges) charge.endsAt = trial.now;
    charges.push({ receipt, endsAt: trial.now + lifeOf(trial.policy, trial.now, outcome) });
  }
};

/** Where admissions are counted one by one, refunding an earlier charge is as if that one had not happened. */
export const earlierRefund: LawBody = function* (trial, history) {
  for (const move of trial.walk(history)) {
    yield* trial.make(move);
    yield* trial.make(move, "twin");
    const { receipt } = yield* trial.commit(1 + (move.pick % 2));
    if (receipt === undefined) continue;
    for (const stepMs of [1, move.pick % trial.policy.windowMs]) {
      trial.clock.set(trial.now + stepMs);
      if ((yield* trial.commit(1)).allowed) yield* trial.commit(1, "twin");
    }
    yield* trial.refund(receipt);
    yield* expectTwins(trial, "a key with an earlier charge refunded");
  }
};

/** A refund in the middle gives back exactly what the definition says. */
export const exactRefund: LawBody = function* (trial, history) {
  const { policy } = trial;
  for (const move of trial.walk(history)) {
    yield* trial.make(move);
    const taken = yield* trial.commit(1 + (move.pick % 3));
    if (taken.receipt === undefined) continue;
    const life = lifeOf(policy, trial.now, taken);
    const waitMs = life < 2 ? 0 : move.pick % (life - 1);
    trial.clock.set(trial.now + waitMs);
    const before = yield* trial.look(0);
    yield* trial.refund(taken.receipt);
    const after = yield* trial.look(0);
    const { remaining, resetMs } = partlyBack(policy, { before, taken, waitMs, now: trial.now });
    expectThat(
      after.remaining >= remaining.least && after.remaining <= remaining.most,
      `remaining ${after.remaining} after a refund, expected ${remaining.least} to ${remaining.most}`,
    );
    if (resetMs !== undefined) expectSame(after.resetMs, resetMs, "reset after a refund");
  }
};

interface Middle {
  readonly before: Outcome;
  readonly taken: Outcome;
  readonly waitMs: Millis;
  readonly now: Millis;
}

/** What a key must show after the refund of its latest charge, as far as its outcomes alone tell. */
function partlyBack(
  policy: Policy,
  { before, taken, waitMs, now }: Middle,
): { remaining: { least: number; most: number }; resetMs: Millis | undefined } {
  const { cost } = taken;
  const whole = Math.min(before.limit, before.remaining + cost);
  const all = { least: whole, most: whole };
  switch (policy.algorithm) {
    case "fixed-window":
    case "sliding-window":
      return { remaining: all, resetMs: whole === before.limit ? 0 : undefined };
    case "sliding-window-counter": {
      // Of a previous window's count, only a share is left to be given back.
      const { windowMs } = policy;
      if (Math.floor(now / windowMs) === Math.floor((now - waitMs) / windowMs))
        return { remaining: all, resetMs: undefined };
      const share = Math.floor(
        Number((BigInt(cost) * BigInt(windowMs - (now % windowMs))) / BigInt(windowMs)),
      );
      const least = Math.min(before.limit, before.remaining + share);
      return { remaining: { least, most: Math.min(before.limit, least + 1) }, resetMs: undefined };
    }
    case "token-bucket": {
      const refilled = whole === before.limit;
      return {
        remaining: all,
        resetMs: refilled && before.remaining + cost > before.limit ? 0 : undefined,
      };
    }
    case "leaky-bucket": {
      const gone = waitMs > taken.delayMs;
      const now = gone ? before.remaining : whole;
      return { remaining: { least: now, most: now }, resetMs: gone ? before.resetMs : undefined };
    }
  }
}

/** How long after a charge its refund still changes something. */
function lifeOf(policy: Policy, now: Millis, { resetMs, delayMs }: Outcome): Millis {
  switch (policy.algorithm) {
    case "fixed-window":
      return resetMs;
    case "sliding-window":
      return policy.windowMs;
    case "sliding-window-counter":
      return 2 * policy.windowMs - (now % policy.windowMs);
    case "token-bucket":
      return Math.ceil((policy.burst * policy.windowMs) / policy.limit);
    case "leaky-bucket":
      return delayMs + 1;
  }
}

function sizeOf(store: object): number {
  return "size" in store ? (store.size as number) : 0;
}
