import { readFileSync } from "node:fs";
import {
  createLimiter,
  type Decision,
  definePolicy,
  fixedWindow,
  leakyBucket,
  type PolicyDefinition,
  slidingWindow,
  slidingWindowCounter,
  tokenBucket,
} from "@headgate/core";
import { peekAll, refund } from "@headgate/core/policies";
import { ManualClock } from "@headgate/core/testing";
import { describe, expect, test } from "vitest";
import { redisStore } from "../../src/index.js";
import { freshPrefix, patientMs, useSingleServer } from "../servers/single.js";

const redis = useSingleServer();
const ann = { ip: "192.0.2.1", user: "ann" };
const bob = { ip: "192.0.2.2", user: "bob" };

function limiterOf(policies: Readonly<Record<string, PolicyDefinition>>, at = 1_700_000_000_000) {
  const clock = new ManualClock(at);
  const store = redisStore(redis.client, {
    connection: "shared",
    prefix: freshPrefix(),
    clock,
    callTimeoutMs: patientMs,
    // A remembered refusal tells what was left when it was made.
    denyCache: false,
  });
  return { clock, limiter: createLimiter({ store, policies, deadlineMs: patientMs }) };
}

interface Step {
  readonly at: number;
  readonly cost?: number;
  readonly refund?: number;
  readonly expect: Record<string, unknown> & { readonly outcomes?: readonly object[] };
}

interface Example {
  readonly policy?: Record<string, unknown>;
  readonly policies?: readonly Record<string, unknown>[];
  readonly steps: readonly Step[];
}

function examplesOf(name: string): readonly (readonly [number, Example])[] {
  const file = new URL(import.meta.resolve(`@headgate/core/vectors/${name}`));
  const { cases } = JSON.parse(readFileSync(file, "utf8")) as { cases: readonly Example[] };
  return cases.map((example, index) => [index, example] as const);
}

// JSON has no Infinity: there the wait of what can never fit is null.
const told = (expected: Record<string, unknown>) =>
  expected.retryAfterMs === null ? { ...expected, retryAfterMs: Infinity } : expected;

describe.each(["refunds", "batches"])("the vectors of %s at the limiter's surface", (name) => {
  test.each(examplesOf(name))("example %d", async (_, { policy, policies, steps }) => {
    const inputs = policies ?? [policy ?? {}];
    const named = inputs.map((input, at) => [`p${at}`, definePolicy(`p${at}`, input)] as const);
    const names = named.map(([key]) => key);
    const { clock, limiter } = limiterOf(Object.fromEntries(named), steps[0]?.at);
    const decisions: (Decision | undefined)[] = [];
    for (const { at, cost = 1, refund: earlier, expect: expected } of steps) {
      clock.set(at);
      const made = earlier === undefined ? undefined : decisions[earlier];
      if (made !== undefined) await refund(limiter, made);
      const decision =
        earlier === undefined
          ? await limiter.check(names, ann, { cost })
          : await limiter.peek(names, ann, { cost: 0 });
      decisions.push(earlier === undefined ? decision : undefined);
      const { outcomes, ...whole } = expected;
      expect(decision).toMatchObject(told(whole));
      for (const [index, outcome] of (outcomes ?? []).entries())
        expect(decision.outcomes[index]).toMatchObject(told(outcome as Record<string, unknown>));
    }
  });
});

const minute = { window: "1m", by: "user" } as const;
const tiers = { pro: { limit: 20 } };
const queue = { limit: 5, queue: 4, maxDelayMs: 300_000 };

test.each([
  fixedWindow({ ...minute, limit: 5, tiers }),
  slidingWindow({ ...minute, limit: 5, tiers }),
  slidingWindowCounter({ ...minute, limit: 5, tiers }),
  tokenBucket({ ...minute, limit: 5, tiers }),
  leakyBucket({ ...minute, ...queue, tiers: { pro: { limit: 20, queue: 19 } } }),
])("a tier of $algorithm keeps the count, in both directions", async (api) => {
  const { limiter } = limiterOf({ api });
  for (let left = 4; left >= 0; left -= 1)
    expect(await limiter.check("api", ann)).toMatchObject({ allowed: true, remaining: left });
  expect((await limiter.check("api", ann)).allowed).toBe(false);
  const pro = await limiter.check("api", ann, { tier: "pro" });
  expect(pro).toMatchObject({ allowed: true, limit: 20, remaining: 14 });
  expect(await limiter.check("api", ann)).toMatchObject({ allowed: false, limit: 5, remaining: 0 });
});

test("peekAll and reset touch exactly one subject", async () => {
  const { limiter } = limiterOf({
    perIp: fixedWindow({ limit: 5, window: "1m" }),
    perUser: slidingWindow({ ...minute, limit: 5 }),
    perTenant: fixedWindow({ ...minute, limit: 5, by: "tenant" }),
  });
  for (const one of [ann, bob]) await limiter.check(["perIp", "perUser"], one, { cost: 3 });
  await limiter.reset("perUser", ann);
  const left = async (identity: typeof ann) =>
    (await peekAll(limiter, identity)).map(({ policy, remaining }) => [policy.name, remaining]);
  for (let time = 0; time < 2; time += 1) {
    expect(await left(ann)).toEqual([
      ["perIp", 2],
      ["perUser", 5],
    ]);
    expect(await left(bob)).toEqual([
      ["perIp", 2],
      ["perUser", 2],
    ]);
  }
});
