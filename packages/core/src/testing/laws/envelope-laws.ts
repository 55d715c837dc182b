import type { ChargeReceipt, Outcome } from "../../store/store.js";
import { expectSame, expectThat } from "../expectation.js";
import {
  expectWithinEnvelope,
  mostFromBucket,
  mostInTwoCounters,
  type Passage,
} from "./envelopes.js";
import { anyHistory } from "./history.js";
import { type Law, type LawBody, lawOf } from "./law.js";
import { expectAsModelled } from "./model-check.js";
import { modelOf } from "./models.js";
import type { LawSubject } from "./policies.js";
import type { Steps } from "./steps.js";
import type { Trial } from "./trial.js";

/** The exact upper bounds of what an algorithm admits, and that they are reached. */
export function envelopesOf(subject: LawSubject): readonly Law[] {
  const histories = anyHistory(subject);
  const laws = [
    lawOf("its envelope on random traffic", histories, randomTraffic),
    lawOf("its envelope on greedy traffic", histories, greedyTraffic),
    lawOf("the envelope that is reached", histories, reached),
  ];
  if (subject !== "token-bucket") return laws;
  return [
    ...laws,
    lawOf("admission exactly when no interval is overdrawn", histories, exactAdmission),
    lawOf("its envelope net of refunds", histories, netOfRefunds),
  ];
}

const randomTraffic: LawBody = function* (trial, history) {
  const passages: Passage[] = [];
  for (const move of trial.walk(history)) record(passages, trial, yield* trial.make(move));
  expectWithinEnvelope(trial.policy, passages);
};

/** Takes all that there is, some of it a moment later, and comes back at the instants where there is more. */
const greedyTraffic: LawBody = function* (trial, history) {
  const passages: Passage[] = [];
  const model = modelOf(trial.policy);
  function* takeAllBut(left: number): Steps<void> {
    const { remaining } = yield* trial.look(0);
    const outcome = yield* trial.commit(Math.max(0, remaining - left));
    expectAsModelled(outcome, model, { now: trial.now, charged: true });
    record(passages, trial, outcome);
  }
  for (const move of trial.walk(history)) {
    yield* trial.make({ ...move, mode: "peek" });
    yield* takeAllBut(1);
    trial.clock.set(trial.now + 1);
    yield* takeAllBut(0);
    const { nextMs = 1 } = yield* trial.look(1);
    for (const waitMs of [nextMs - 1, 1]) {
      trial.clock.set(trial.now + waitMs);
      yield* takeAllBut(0);
    }
  }
  expectWithinEnvelope(trial.policy, passages);
};

/** The worst case of each algorithm admits exactly its bound: a stricter store breaks the law too. */
const reached: LawBody = function* (trial, history) {
  const { policy } = trial;
  const { windowMs, limit } = policy;
  const gridMs = Math.ceil(trial.now / windowMs) * windowMs;
  const pick = history.steps[0]?.[2] ?? 0;
  switch (policy.algorithm) {
    case "fixed-window": {
      // One moment before a boundary and one after it: the limit twice, at once. An anchored window must be open by then.
      const opener = policy.anchor === "first-request" ? 1 : 0;
      if (opener > 0) yield* takeAt(trial, gridMs, opener);
      if (limit > opener) yield* takeAt(trial, gridMs + windowMs - 1, limit - opener);
      trial.clock.set(gridMs + windowMs - 1);
      expectThat(!(yield* trial.look(1)).allowed, "the window is full");
      yield* takeAt(trial, gridMs + windowMs, limit);
      break;
    }
    case "sliding-window":
      yield* takeAt(trial, gridMs + (pick % windowMs), limit);
      yield* takeAt(trial, gridMs + (pick % windowMs) + windowMs, limit);
      break;
    case "sliding-window-counter": {
      yield* takeAt(trial, gridMs + windowMs - 1, limit);
      const lengthMs = 1 + (pick % windowMs);
      const second = Number(mostInTwoCounters(policy, lengthMs - 1)) - limit;
      yield* takeAt(trial, gridMs + windowMs - 1 + lengthMs, second);
      expectThat(!(yield* trial.look(1)).allowed, "nothing is left after the worst case");
      if (windowMs >= 2 * limit && lengthMs === windowMs - 1)
        expectSame(limit + second, 2 * limit - 1, "the most within one trailing window");
      break;
    }
    case "token-bucket": {
      const lengthMs = pick % (2 * windowMs);
      yield* takeAt(trial, gridMs, policy.burst);
      const back = Number(mostFromBucket(policy, lengthMs) - BigInt(policy.burst));
      yield* takeAt(trial, gridMs + lengthMs, Math.min(policy.burst, back));
      break;
    }
    case "leaky-bucket":
      yield* reachQueue(trial, policy.queue);
  }
};

/** Fills the queue: its last unit is held for all of the queue, and one more finds no place. */
function* reachQueue(trial: Trial, queue: number): Steps<void> {
  const { limit, windowMs } = trial.policy;
  if (queue > 0) yield* takeAt(trial, trial.now, queue);
  const { delayMs } = yield* takeAt(trial, trial.now, 1);
  const hold = (BigInt(queue) * BigInt(windowMs) + BigInt(limit) - 1n) / BigInt(limit);
  expectSame(delayMs, Number(hold), "the hold of the last place");
  expectThat(!(yield* trial.look(1)).allowed, "the queue is full");
}

/** Admitted if, and only if, no interval that ends now has used more than the bucket held and got back. */
const exactAdmission: LawBody = function* (trial, history) {
  const model = modelOf(trial.policy);
  for (const move of trial.walk(history)) {
    for (const cost of [1, 2, trial.capacity]) {
      const { allowed } = yield* trial.look(cost);
      expectSame(allowed, model.admits(trial.now, cost), `admission of cost ${cost}`);
    }
    const outcome = yield* trial.make(move);
    if (outcome.receipt !== undefined) model.take(trial.now, move.cost);
  }
};

const netOfRefunds: LawBody = function* (trial, history) {
  const passages: Passage[] = [];
  const receipts: ChargeReceipt[] = [];
  const { limit, windowMs } = trial.policy;
  const refillMs = Math.ceil((trial.capacity * windowMs) / limit);
  for (const move of trial.walk(history)) {
    const outcome = yield* trial.make(move);
    record(passages, trial, outcome);
    if (outcome.receipt !== undefined) receipts.push(outcome.receipt);
    const [receipt] = receipts.splice(move.pick % (receipts.length + 2), 1);
    if (receipt === undefined) continue;
    yield* trial.refund(receipt);
    if (trial.now - receipt.at < refillMs)
      passages.push({ at: trial.now, cost: -receipt.cost, delayMs: 0 });
  }
  expectWithinEnvelope(trial.policy, passages);
};

function* takeAt(trial: Trial, at: number, cost: number): Steps<Outcome> {
  trial.clock.set(at);
  const outcome = yield* trial.commit(cost);
  expectThat(outcome.allowed, `the worst case admits ${cost} at ${at}`);
  return outcome;
}

function record(passages: Passage[], { now }: Trial, { receipt, delayMs }: Outcome): void {
  if (receipt !== undefined) passages.push({ at: now, cost: receipt.cost, delayMs });
}
