import fc from "fast-check";
import { decisionOf } from "../../decision/decision.js";
import { createLimiter } from "../../limiter/limiter.js";
import type { Policy } from "../../policy/policy.js";
import type { PolicyInput } from "../../policy/rules.js";
import type { Charge, Outcome } from "../../store/store.js";
import { answerOf, expectSame, expectSameAnswer, expectThat } from "../expectation.js";
import { anySteps, type History, type Move } from "./history.js";
import { type Law, type LawBody, lawOf } from "./law.js";
import { anyPolicy, type LawSubject, lawSubjects } from "./policies.js";
import { answered, type Steps } from "./steps.js";
import type { Trial } from "./trial.js";

/** A history of several policies together; the first is the one that steps aim at. */
interface CompositeHistory extends History {
  readonly others: readonly PolicyInput[];
}

/** What several policies on one request must do together, for stores and for a limiter over them. */
export function compositeLaws(): readonly Law[] {
  const histories = anyCompositeHistory();
  return [
    lawOf("admitted together iff admitted by each", histories, togetherAsAlone),
    lawOf("the order of the policies changes no verdict", histories, orderIsFree),
    lawOf("refused charges nobody", histories, refusedChargesNobody),
    lawOf("the wait is the longest of the refusing policies", histories, waitIsTheLongest),
    lawOf("one policy and subject twice is one charge of the larger cost", histories, namedTwice),
  ];
}

function anyCompositeHistory(): fc.Arbitrary<CompositeHistory> {
  // A request may wait in one leaky bucket at most.
  const others = lawSubjects.filter((subject) => subject !== "leaky-bucket");
  const pick = (from: readonly LawSubject[]): fc.Arbitrary<PolicyInput> =>
    fc.oneof(...from.map((subject) => anyPolicy(subject)));
  return fc
    .tuple(pick(lawSubjects), fc.array(pick(others), { minLength: 1, maxLength: 2 }), anySteps())
    .map(([policy, others, steps]) => ({ policy, others, startMs: 1_000_000, steps }));
}

/** All policies of a history, under names that say which set they belong to. */
function policiesOf(trial: Trial, { policy, others }: CompositeHistory, set: string): Policy[] {
  return [policy, ...others].map((input, index) => trial.named(`${set}${index}`, input));
}

/** The charges of a move: each policy's cost follows from the move, and is often the same. */
function chargesOf(policies: readonly Policy[], { cost, pick }: Move): Charge[] {
  return policies.map((policy, index) => {
    const other = Math.floor(pick / 3) % 4;
    return { policy, subject: "a", cost: index > 0 && pick % 3 === 0 ? other : cost };
  });
}

const togetherAsAlone: LawBody<CompositeHistory> = function* (trial, history) {
  const together = policiesOf(trial, history, "together");
  const alone = policiesOf(trial, history, "alone");
  for (const move of trial.walk(history)) {
    yield* trial.look(1);
    const batch = yield* trial.apply(chargesOf(together, move), move.mode);
    const charges = chargesOf(alone, move);
    let singles = yield* eachAlone(trial, charges, "peek");
    const allowed = singles.every((outcome) => outcome.allowed);
    expectSame(
      batch.every((outcome) => outcome.allowed),
      allowed,
      "the verdict of the batch",
    );
    if (allowed && move.mode === "commit") singles = yield* eachAlone(trial, charges, "commit");
    expectSameAnswers(batch, singles, "a policy of a batch, against the policy alone");
  }
};

const orderIsFree: LawBody<CompositeHistory> = function* (trial, history) {
  const policies = policiesOf(trial, history, "order");
  const reversed = policiesOf(trial, history, "reversed");
  for (const move of trial.walk(history)) {
    const batch = yield* trial.apply(chargesOf(policies, move), move.mode);
    const other = yield* trial.apply(chargesOf(reversed, move).reverse(), move.mode);
    expectSameAnswers(batch, [...other].reverse(), "a policy of a batch in another order");
    const [one, two] = [decisionOf(batch), decisionOf(other)];
    expectSame(
      [one.allowed, one.retryAfterMs, one.delayMs],
      [two.allowed, two.retryAfterMs, two.delayMs],
      "the decision in another order",
    );
  }
};

const refusedChargesNobody: LawBody<CompositeHistory> = function* (trial, history) {
  const policies = policiesOf(trial, history, "policy");
  for (const move of trial.walk(history)) {
    const charges = chargesOf(policies, move);
    const before = yield* trial.apply(charges, "peek");
    const batch = yield* trial.apply(charges, move.mode);
    if (batch.every((outcome) => outcome.allowed)) continue;
    expectSameAnswers(batch, before, "what a refused batch reports");
    const after = yield* trial.apply(charges, "peek");
    expectSameAnswers(after, before, "a look after a refused batch");
    expectThat(
      batch.every(({ receipt }) => receipt === undefined),
      "a refused batch has no receipt",
    );
  }
};

const waitIsTheLongest: LawBody<CompositeHistory> = function* (trial, history) {
  const policies = policiesOf(trial, history, "policy");
  for (const move of trial.walk(history)) {
    const charges = chargesOf(policies, move);
    const batch = yield* trial.apply(charges, move.mode);
    const { allowed, retryAfterMs } = decisionOf(batch);
    const waits = batch
      .filter((outcome) => !outcome.allowed)
      .map((outcome) => outcome.retryAfterMs);
    expectSame([allowed, retryAfterMs], [waits.length === 0, Math.max(0, ...waits)], "the wait");
    if (allowed || retryAfterMs === Infinity) continue;
    const { now } = trial;
    for (const waitMs of [retryAfterMs - 1, retryAfterMs]) {
      trial.clock.set(now + waitMs);
      const later = yield* trial.apply(charges, "peek");
      const admitted = later.every((outcome) => outcome.allowed);
      expectSame(admitted, waitMs === retryAfterMs, `admission ${waitMs} ms into the wait`);
    }
    trial.clock.set(now);
  }
};

const namedTwice: LawBody<CompositeHistory> = function* (trial, history) {
  const policies = policiesOf(trial, history, "twice");
  const singles = policiesOf(trial, history, "once");
  const [first] = policies as [Policy];
  const { store, clock } = trial;
  const limiter = createLimiter({ store, clock, policies: { [first.name]: first } });
  for (const move of trial.walk(history)) {
    const smaller = { ...move, cost: Math.floor(move.cost / 2) };
    const charges = [...chargesOf(policies, smaller), ...chargesOf(policies, move)];
    const twice = yield* answered(limiter.decide(charges, { mode: move.mode, wantNext: true }));
    const larger = chargesOf(singles, move).map((charge, index) => ({
      ...charge,
      cost: Math.max(charge.cost, chargesOf(policies, smaller)[index]?.cost ?? 0),
    }));
    const once = yield* trial.apply(larger, move.mode);
    expectSameAnswers(twice.outcomes, once, "a policy that is named twice");
  }
};

function* eachAlone(
  trial: Trial,
  charges: readonly Charge[],
  mode: "commit" | "peek",
): Steps<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const charge of charges) outcomes.push(...(yield* trial.apply([charge], mode)));
  return outcomes;
}

function expectSameAnswers(
  actual: readonly Outcome[],
  expected: readonly Outcome[],
  what: string,
): void {
  expectSame(actual.length, expected.length, `${what}: outcomes`);
  for (const [index, outcome] of actual.entries())
    expectSameAnswer(answerOf(outcome), answerOf(expected[index] as Outcome), what);
}
