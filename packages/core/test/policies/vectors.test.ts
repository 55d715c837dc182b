import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Decision } from "../../src/decision/decision.js";
import { createLimiter } from "../../src/limiter/limiter.js";
import { refund } from "../../src/policies/index.js";
import { definePolicy } from "../../src/policy/define.js";
import { ManualClock } from "../../src/testing/index.js";

interface Expected {
  readonly allowed?: boolean;
  readonly retryAfterMs?: number | null;
  readonly remaining?: number;
  readonly resetMs?: number;
  readonly delayMs?: number;
  readonly outcomes?: readonly Expected[];
}

interface Step {
  readonly at: number;
  readonly cost?: number;
  readonly refund?: number;
  readonly expect: Expected;
}

function casesOf(name: string) {
  const file = new URL(`../../vectors/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")).cases as readonly {
    readonly policy?: Record<string, unknown>;
    readonly policies?: readonly Record<string, unknown>[];
    readonly steps: readonly Step[];
  }[];
}

/** A limiter over the policies of a case, and all their names. */
function limiterOf(policies: readonly Record<string, unknown>[], at: number) {
  const clock = new ManualClock(at);
  const named = policies.map((policy, index) => [`p${index}`, definePolicy(`p${index}`, policy)]);
  const limiter = createLimiter({ clock, policies: Object.fromEntries(named) });
  const names = named.map(([name]) => name as string);
  return { clock, limiter, names };
}

const identity = { ip: "192.0.2.1" };

function expectAs(
  seen: Record<string, unknown>,
  { retryAfterMs, outcomes, ...expected }: Expected,
) {
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs: retryAfterMs ?? Infinity };
  expect(seen).toMatchObject({ ...expected, ...wait });
}

describe("the refund vectors at the limiter's surface", () => {
  test.each(casesOf("refunds").map((one, index) => [index, one] as const))("case %d", (_, one) => {
    const { clock, limiter, names } = limiterOf([one.policy ?? {}], one.steps[0]?.at ?? 0);
    const decisions: (Decision | undefined)[] = [];
    for (const step of one.steps) {
      clock.set(step.at);
      if (step.refund === undefined) {
        const decision = limiter.check(names, identity, { cost: step.cost ?? 1 });
        decisions.push(decision);
        expectAs({ ...decision }, step.expect);
      } else {
        decisions.push(undefined);
        const made = decisions[step.refund];
        if (made !== undefined) refund(limiter, made);
        expectAs({ ...limiter.peek(names, identity, { cost: 0 }) }, step.expect);
      }
    }
  });
});

describe("the batch vectors at the limiter's surface", () => {
  test.each(casesOf("batches").map((one, index) => [index, one] as const))("case %d", (_, one) => {
    const { clock, limiter, names } = limiterOf(one.policies ?? [], one.steps[0]?.at ?? 0);
    for (const { at, cost = 1, expect: expected } of one.steps) {
      clock.set(at);
      const { allowed, retryAfterMs, outcomes } = limiter.check(names, identity, { cost });
      expect([allowed, retryAfterMs]).toEqual([
        expected.allowed,
        expected.retryAfterMs ?? (expected.retryAfterMs === null ? Infinity : undefined),
      ]);
      for (const [index, outcome] of outcomes.entries())
        expectAs({ ...outcome }, expected.outcomes?.[index] ?? {});
    }
  });
});
