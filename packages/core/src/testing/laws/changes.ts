import fc from "fast-check";
import type { Millis } from "../../clock.js";
import { capacityOf } from "../../policy/capacity.js";
import type { MigrationRule, Policy } from "../../policy/policy.js";
import type { PolicyInput } from "../../policy/rules.js";
import type { Outcome } from "../../store/store.js";
import { expectThat } from "../expectation.js";
import { anySteps, type History, type Step } from "./history.js";
import { anyPolicy, type LawSubject, lawSubjects } from "./policies.js";
import type { Steps } from "./steps.js";
import type { Trial } from "./trial.js";

/** A history that goes from one policy to another of the same name. */
export interface ChangingHistory extends History {
  readonly other: PolicyInput;
  readonly rule: MigrationRule;
  /** A number from 0 to 100 for whatever a law picks once. */
  readonly share: number;
}

/** Beyond these, a policy with other numbers might not be exact. */
const smallNumber = 2 ** 20;

/**
 * Any policy, and another one: of any of these algorithms, or the same with other numbers, or with another window.
 */
export function anyChange(...subjects: readonly LawSubject[]): fc.Arbitrary<ChangingHistory> {
  const among = subjects.length === 0 ? lawSubjects : subjects;
  const policy = fc.oneof(...among.map((subject) => anyPolicy(subject)));
  const rule = fc.constantFrom<MigrationRule>("keep", "scale", "reset");
  const kind = fc.constantFrom("other", "other", "numbers", "window");
  return fc
    .tuple(policy, policy, kind, rule, fc.nat({ max: 100 }), anySteps())
    .map(([first, second, kind, rule, share, steps]) => ({
      policy: first,
      other: kind === "other" ? second : changed(first, share, kind === "window"),
      rule,
      share,
      startMs: 1_700_000_000_000,
      steps,
    }));
}

/** Numbers above this may be cut to what is exact: what is left is told right, and waits are shorter. */
export const surelyExact: bigint = 2n ** 51n;

/** The same policy with other numbers, as far as it is small enough for any. */
export function changed(policy: PolicyInput, pick: number, window = false): PolicyInput {
  const numbers = policy as Readonly<Record<string, number>>;
  const { limit = 1, windowMs = 1, burst, queue } = numbers;
  if (Math.max(limit, windowMs, burst ?? 0, queue ?? 0) > smallNumber) return policy;
  if (window) return { ...policy, windowMs: windowMs + 1 + (pick % 50) };
  return {
    ...policy,
    limit: 1 + ((limit + pick) % 40),
    ...(burst !== undefined && { burst: 1 + ((burst + pick * 7) % 40) }),
    ...(queue !== undefined && { queue: (queue + pick * 3) % 40 }),
  };
}

/** The two policies of a history, the second with a higher version. */
export function versionsOf(
  trial: Trial,
  { policy, other, rule }: ChangingHistory,
): readonly [Policy, Policy] {
  return [
    trial.named("changing", { ...policy, migrate: rule }),
    trial.named("changing", { ...other, version: 2, migrate: rule }),
  ];
}

/** A charge for the subject that laws of changing policies are about. */
export function* one(trial: Trial, policy: Policy, cost: number): Steps<Outcome> {
  const [outcome] = yield* trial.apply([{ policy, subject: "a", cost }], "commit");
  return outcome as Outcome;
}

export function* look(trial: Trial, policy: Policy, cost = 0): Steps<Outcome> {
  const [outcome] = yield* trial.apply([{ policy, subject: "a", cost }], "peek");
  return outcome as Outcome;
}

/** What was admitted, and when. */
export interface Taken {
  readonly at: Millis;
  readonly cost: number;
}

/** Uses some of a policy, step by step, now and then some time later. */
export function* useSome(
  trial: Trial,
  policy: Policy,
  steps: readonly Step[],
): Steps<readonly Taken[]> {
  const taken: Taken[] = [];
  for (const [advance, cost, pick] of steps.slice(0, 6)) {
    trial.clock.set(trial.now + (advance === 7 ? pick % policy.windowMs : advance % 3));
    const { remaining } = yield* look(trial, policy);
    const units = 1 + ((cost * pick) % Math.max(1, remaining));
    const { receipt } = yield* one(trial, policy, units);
    if (receipt !== undefined) taken.push({ at: trial.now, cost: units });
  }
  return taken;
}

/** Moves on by less than a window. */
export function moveOn(trial: Trial, { windowMs }: Policy, share: number): void {
  trial.clock.set(trial.now + Math.floor((windowMs * share) / 200));
}

export function capacityIsSmall(policy: Policy): boolean {
  return Math.max(capacityOf(policy), policy.limit, policy.windowMs) <= smallNumber;
}

export function sameForm(old: Policy, changed: Policy): boolean {
  return old.algorithm === changed.algorithm && old.windowMs === changed.windowMs;
}

export function bothQueues(old: Policy, changed: Policy): boolean {
  return old.algorithm === "leaky-bucket" && changed.algorithm === "leaky-bucket";
}

export function expectLessOrEqual(value: number, most: number, what: string): void {
  expectThat(value <= most, () => `${what}: got ${value}, at most ${most} expected`);
}
