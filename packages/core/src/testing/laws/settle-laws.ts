import type { Decision } from "../../decision/decision.js";
import { type Answer, createLimiter, type Limiter } from "../../limiter/limiter.js";
import { conclude, type Ending } from "../../policies/conclude.js";
import { refund, settle } from "../../policies/settle.js";
import { capacityOf } from "../../policy/capacity.js";
import type { Policy } from "../../policy/policy.js";
import type { PolicyInput } from "../../policy/rules.js";
import type { Outcome } from "../../store/store.js";
import { answerOf, expectSame, expectSameAnswer } from "../expectation.js";
import {
  type ChangingHistory,
  capacityIsSmall,
  expectLessOrEqual,
  look,
  one,
  useSome,
} from "./changes.js";
import { expectWithinEnvelope, type Passage } from "./envelopes.js";
import type { LawBody } from "./law.js";
import { answered, type Steps } from "./steps.js";
import type { Trial } from "./trial.js";

/** What is settled upwards is taken as far as capacity and debt have room for it, and told. */
export const settledCost: LawBody<ChangingHistory> = function* (trial, history) {
  const debt = history.share % 50;
  // At the largest numbers there is no room for any debt.
  if (!capacityIsSmall(trial.policy)) return;
  const policy = trial.named("indebted", { ...history.policy, debt });
  yield* useSome(trial, policy, history.steps);
  const asked = 1 + ((history.share * 7) % (2 * capacityOf(policy) + debt));
  const before = yield* look(trial, policy);
  const [settled] = yield* trial.apply([{ policy, subject: "a", cost: asked }], "settle");
  const { cost, allowed } = settled as Outcome;
  expectSame(allowed, cost === asked, "whether all of it was taken");
  expectSame(cost, Math.min(asked, before.remaining + debt), "what was taken");
  const after = yield* look(trial, policy);
  expectSame(after.remaining, Math.max(0, before.remaining - cost), "what is left");
  const again = yield* trial.apply([{ policy, subject: "a", cost: 2 ** 30 }], "settle");
  const total = cost + (again[0] as Outcome).cost;
  expectLessOrEqual(total, before.remaining + debt, "what can be taken in all");
  // Who has debts waits for exactly as long as they last.
  const { retryAfterMs, allowed: passes } = yield* one(trial, policy, 1);
  if (passes) return;
  const { now } = trial;
  trial.clock.set(now + retryAfterMs - 1);
  expectSame((yield* look(trial, policy, 1)).allowed, false, "one millisecond too early");
  trial.clock.set(now + retryAfterMs);
  expectSame((yield* look(trial, policy, 1)).allowed, true, "at the promised instant");
};

/** Charged, settled and refunded, net of what was given back: never more than the envelope with the debt on top. */
export const settledEnvelope: LawBody<ChangingHistory> = function* (trial, history) {
  const debt = history.share % 7;
  // What is settled in a queue leaves at no instant of its own.
  if (!capacityIsSmall(trial.policy) || trial.policy.algorithm === "leaky-bucket") return;
  const policy = trial.named("enveloped", { ...history.policy, debt });
  const passages: Passage[] = [];
  for (const [advance, cost, pick] of history.steps) {
    trial.clock.set(trial.now + (advance > 9 ? pick % policy.windowMs : advance % 3));
    const { receipt } = yield* one(trial, policy, 1 + (cost % 4));
    let taken = receipt?.cost ?? 0;
    if (receipt !== undefined && pick % 3 === 0) {
      const part = 1 + (pick % receipt.cost);
      yield* trial.refund({ ...receipt, part });
      taken -= part;
    } else if (pick % 3 === 1) {
      const [settled] = yield* trial.apply([{ policy, subject: "a", cost }], "settle");
      taken += (settled as Outcome).cost;
    }
    if (taken > 0) passages.push({ at: trial.now, cost: taken, delayMs: 0 });
  }
  expectWithinEnvelope(indebted(policy), passages);
};

function indebted(policy: Policy): Policy {
  if (policy.algorithm === "token-bucket") return { ...policy, burst: policy.burst + policy.debt };
  return { ...policy, limit: policy.limit + policy.debt };
}

/** A limiter over a trial's store, and a twin of its policy that is charged once, and rightly. */
function limitersOf(trial: Trial, input: PolicyInput): Limiter<"policy" | "twin"> {
  const { store, clock } = trial;
  // Under the names of the trial, which keep histories on one store apart.
  const [policy, twin] = [trial.named("policy", input), trial.named("twin", input)];
  const policies = { [policy.name]: policy, [twin.name]: twin };
  const limiter = createLimiter({ store, clock, policies });
  return limiter as unknown as Limiter<"policy" | "twin">;
}

const identity = { ip: "192.0.2.1" };

function* checked(
  limiter: Limiter,
  name: string,
  { cost, mode = "check" }: { cost: number; mode?: "check" | "peek" },
): Steps<Decision> {
  return yield* answered(limiter[mode](name, identity, { cost }));
}

/** A settled request is one of the cost it was settled at, and a refunded one has not happened; once, whatever follows. */
export const correctedOnce: LawBody<ChangingHistory> = function* (trial, history) {
  const limiter: Limiter = limitersOf(trial, history.policy);
  const [name, twin] = Object.keys(limiter.policies) as [string, string];
  for (const [, cost, pick] of history.steps) {
    const reserved = 1 + (cost % 6);
    const decision = yield* checked(limiter, name, { cost: reserved });
    if (!decision.allowed) break;
    const most = reserved + (decision.remaining ?? 0);
    const whole = pick % 4 === 0 ? 0 : Math.min(most, pick % (2 * reserved));
    const corrections: ((limiter: Limiter) => Answer<never, unknown>)[] = [
      (of) => settle(of, decision, whole) as never,
      (of) => refund(of, decision) as never,
      (of) => settle(of, decision, 0) as never,
      (of) => conclude(of, decision, "success") as never,
    ];
    if (whole === 0 && pick % 3 === 0) corrections.shift();
    for (const correct of corrections) yield* answered<unknown>(correct(limiter));
    yield* checked(limiter, twin, { cost: whole });
    for (const one of [1, capacityOf(decision.policy)]) {
      const seen = yield* checked(limiter, name, { cost: one, mode: "peek" });
      const expected = yield* checked(limiter, twin, { cost: one, mode: "peek" });
      expectSameAnswer(
        answerOf(seen.outcomes[0] as Outcome),
        answerOf(expected.outcomes[0] as Outcome),
        `after ${reserved} settled at ${whole}`,
      );
    }
  }
};

/** A concluded request counts iff its policy counts such endings; one that was given up stays counted. */
export const concluded: LawBody<ChangingHistory> = function* (trial, history) {
  const counts = ["all", "failures", "successes"] as const;
  const endings = ["success", "failure", "abandoned"] as const;
  const count = counts[history.share % 3] as (typeof counts)[number];
  const after = 1 + (history.steps.length % 4);
  const onSuccess = history.share % 2 === 0 ? "clear" : "refund";
  const penalty = { on: "failures", after, within: "1h", ban: "1h" };
  const input = { ...history.policy, count, onSuccess, penalty };
  const limiter: Limiter = limitersOf(trial, input);
  const [name, twin] = Object.keys(limiter.policies) as [string, string];
  let failures = 0;
  for (const [, , pick] of history.steps) {
    const ending = endings[pick % 3] as Ending;
    const decision = yield* checked(limiter, name, { cost: 1 });
    if (!decision.allowed) break;
    yield* answered<unknown>(conclude(limiter, decision, ending));
    yield* answered<unknown>(conclude(limiter, decision, "failure"));
    const cleared = count === "failures" && ending === "success" && onSuccess === "clear";
    if (cleared) yield* answered<unknown>(limiter.reset(twin, identity));
    if (cleared) failures = 0;
    if (ending !== "success") failures += 1;
    const uncounted = { success: "failures", failure: "successes", abandoned: "none" }[ending];
    if (uncounted !== count) yield* checked(limiter, twin, { cost: 1 });
    const seen = (yield* checked(limiter, name, { cost: 1, mode: "peek" })).outcomes[0] as Outcome;
    expectSame(seen.banMs > 0, failures === after, `a ban after ${failures} failures of ${after}`);
    if (seen.banMs > 0) break;
    const expected = yield* checked(limiter, twin, { cost: 1, mode: "peek" });
    expectSameAnswer(
      answerOf(seen),
      answerOf(expected.outcomes[0] as Outcome),
      `after a ${ending} under count ${count}`,
    );
  }
};
