import type { Millis } from "../../clock.js";
import { capacityOf } from "../../policy/capacity.js";
import type { Penalty, Policy } from "../../policy/policy.js";
import type { Outcome } from "../../store/store.js";
import { answerOf, expectSame, expectSameAnswer } from "../expectation.js";
import { type ChangingHistory, look, one, useSome } from "./changes.js";
import type { LawBody } from "./law.js";
import { answered } from "./steps.js";

/** What leads to a ban, written down as its definition. */
class StrikeModel {
  readonly #penalty: Pick<Penalty, "after" | "withinMs" | "banMs">;
  #strikes: Millis[] = [];
  #untilMs = 0;

  constructor(penalty: Pick<Penalty, "after" | "withinMs" | "banMs">) {
    this.#penalty = penalty;
  }

  banMs(now: Millis): Millis {
    return Math.max(0, this.#untilMs - now);
  }

  strike(now: Millis): void {
    const { after, withinMs, banMs } = this.#penalty;
    if (this.banMs(now) > 0) return;
    const [first = now] = this.#strikes;
    if (now - first >= withinMs) this.#strikes = [];
    this.#strikes.push(now);
    if (this.#strikes.length === after) this.set(now, banMs);
  }

  set(now: Millis, forMs: Millis): void {
    this.#strikes = [];
    this.#untilMs = now + forMs;
  }

  forget(now: Millis, keepBan: boolean): void {
    this.set(now, keepBan ? this.banMs(now) : 0);
  }
}

function penaltyOf({ share }: ChangingHistory): Pick<Penalty, "after" | "withinMs" | "banMs"> {
  return { after: 1 + (share % 4), withinMs: 1 + share * 7, banMs: 1 + share * 11 };
}

/** A ban begins with the k-th refusal within the time, ends exactly at its millisecond, and nothing makes it longer. */
export const bans: LawBody<ChangingHistory> = function* (trial, history) {
  const penalty = penaltyOf(history);
  const policy = trial.named("banning", { ...history.policy, penalty });
  const plain = trial.named("plain", history.policy);
  const model = new StrikeModel(penalty);
  for (const [advance, cost, pick] of history.steps) {
    trial.clock.set(trial.now + (advance > 8 ? pick % (2 * penalty.banMs) : advance));
    const { now } = trial;
    const units = pick % 3 === 0 ? capacityOf(policy) + 1 : cost;
    const banned = model.banMs(now) > 0;
    // Who is banned already comes no nearer to the next ban.
    if (banned && pick % 5 === 0) yield* answered(trial.store.bans.strike(policy, "a"));
    const met = yield* look(trial, plain, units);
    const seen = yield* look(trial, policy, units);
    expectSame(seen.banMs, model.banMs(now), "the ban that a look sees");
    if (!met.allowed) model.strike(now);
    const outcome = yield* one(trial, policy, units);
    if (!banned) yield* one(trial, plain, units);
    expectSame(outcome.allowed, units === 0 || (met.allowed && !banned), "the verdict");
    expectSame(outcome.banMs, model.banMs(now), "the rest of the ban");
    if (outcome.banMs > 0) {
      const { remaining, nextMs = 0, resetMs } = yield* look(trial, plain);
      const { banMs } = outcome;
      expectSame(
        [outcome.remaining, outcome.delayMs, outcome.nextMs, outcome.resetMs],
        [0, 0, remaining > 0 ? banMs : Math.max(nextMs, banMs), Math.max(resetMs, banMs)],
        "what is left under a ban",
      );
    }
    const waitMs = met.allowed ? 0 : met.retryAfterMs;
    if (!outcome.allowed)
      expectSame(outcome.retryAfterMs, Math.max(waitMs, outcome.banMs), "the wait");
  }
};

/** Strikes and bans leave the allowance as it is. */
export const strikesAreApart: LawBody<ChangingHistory> = function* (trial, history) {
  const penalty = { on: "failures", after: 1_000, within: "1h", ban: "1h" };
  const policy = trial.named("struck", { ...history.policy, penalty });
  yield* useSome(trial, policy, history.steps);
  const before = yield* look(trial, policy, 1);
  yield* answered(trial.store.bans.strike(policy, "a"));
  expectSameAnswer(answerOf(yield* look(trial, policy, 1)), answerOf(before), "after a strike");
  yield* answered(trial.store.bans.set(policy, "a", 1_000));
  expectSame((yield* look(trial, policy, 1)).banMs, 1_000, "the ban");
  yield* answered(trial.store.bans.set(policy, "a", 0));
  expectSameAnswer(answerOf(yield* look(trial, policy, 1)), answerOf(before), "after the ban");
};

/** Of a refused batch, only policies that refuse by themselves count it; a shadow only where all others admit. */
export const batchStrikes: LawBody<ChangingHistory> = function* (trial, history) {
  const penalty = { ...penaltyOf(history), withinMs: 2 ** 40, banMs: 20 };
  const inputs = [history.policy, history.other, history.policy];
  const named = (set: string, more: object): Policy[] =>
    inputs.map((input, index) =>
      trial.named(`${set}${index}`, { ...input, ...more, shadow: index === 2 }),
    );
  const [policies, plain] = [named("p", { penalty }), named("q", {})];
  const models = inputs.map(() => new StrikeModel(penalty));
  for (const [advance, cost, pick] of history.steps) {
    trial.clock.set(trial.now + advance * 2);
    const { now } = trial;
    const units = inputs.map((_, index) => (pick % (index + 2) === 0 ? cost : 1));
    const charges = (of: Policy[]) =>
      of.map((policy, index) => ({ policy, subject: "a", cost: units[index] as number }));
    const looks = yield* trial.apply(charges(plain), "peek");
    const banned = models.map((model) => model.banMs(now) > 0);
    const passes = looks.map(
      ({ allowed }, index) => allowed && (units[index] === 0 || !banned[index]),
    );
    const admitted = passes[0] === true && passes[1] === true;
    for (const [index, model] of models.entries())
      if (looks[index]?.allowed === false && (index < 2 || admitted)) model.strike(now);
    const outcomes = yield* trial.apply(charges(policies), "commit");
    const charged = charges(plain).filter((_, index) => admitted && passes[index]);
    if (charged.length > 0) yield* trial.apply(charged, "commit");
    for (const [index, { allowed, banMs }] of outcomes.entries())
      expectSame(
        [allowed, banMs],
        [passes[index], models[index]?.banMs(now)],
        `the verdict and the ban under policy ${index}`,
      );
  }
};

/** Bans by hand, lifted bans and forgotten strikes, in any order. */
export const bansByHand: LawBody<ChangingHistory> = function* (trial, history) {
  const penalty = penaltyOf(history);
  const policy = trial.named("manual", {
    ...history.policy,
    penalty: { on: "manual", ...penalty },
  });
  const model = new StrikeModel(penalty);
  const { bans } = trial.store;
  for (const [advance, cost, pick] of history.steps) {
    trial.clock.set(trial.now + (advance > 11 ? pick % (penalty.banMs + 2) : advance % 3));
    const { now } = trial;
    if (cost < 5) {
      yield* answered(bans.strike(policy, "a"));
      model.strike(now);
    } else if (cost < 7) {
      yield* answered(bans.set(policy, "a", 1 + (pick % 50)));
      model.set(now, 1 + (pick % 50));
    } else if (cost < 8) {
      yield* answered(bans.set(policy, "a", 0));
      model.set(now, 0);
    } else if (cost < 10) {
      yield* answered(trial.store.reset(policy, "a", cost === 9));
      model.forget(now, cost === 9);
    } else if (cost === 10) {
      yield* one(trial, policy, capacityOf(policy) + 1);
    }
    const banMs = model.banMs(now);
    const outcome = (yield* look(trial, policy, 1)) as Outcome;
    expectSame([outcome.banMs, outcome.allowed], [banMs, banMs === 0], "the ban");
    const list = yield* answered(bans.list([policy], 1 + (pick % 3)));
    const expected = { policyName: policy.name, subject: "a", endsInMs: banMs };
    expectSame(list, banMs > 0 ? [expected] : [], "the list of bans");
  }
};
