import { describe, expect, it, test } from "vitest";
import { createLimiter } from "../../src/limiter/limiter.js";
import { ban, bans, conclude, peekAll, refund, settle, unban } from "../../src/policies/index.js";
import {
  fixedWindow,
  leakyBucket,
  slidingWindow,
  slidingWindowCounter,
  tokenBucket,
} from "../../src/policy/builders.js";
import type { PolicyDefinition } from "../../src/policy/policy.js";
import { memoryStore } from "../../src/store/memory/memory-store.js";
import { ManualClock } from "../../src/testing/index.js";
import { FakeStore, failing } from "../limiter/fake-store.js";

const ann = { ip: "192.0.2.1", user: "ann" };
const bob = { ip: "192.0.2.2", user: "bob" };
const minute = { window: "1m", by: "user" } as const;

function limiterOf<const N extends string>(policies: Readonly<Record<N, PolicyDefinition>>) {
  const clock = new ManualClock(1_700_000_000_000);
  return { clock, limiter: createLimiter({ clock, policies }) };
}

function elsewhere<const N extends string>(policies: Readonly<Record<N, PolicyDefinition>>) {
  const clock = new ManualClock(1_700_000_000_000);
  const store = new FakeStore(clock);
  const errors: unknown[] = [];
  const onStoreError = (error: unknown) => errors.push(error);
  return { clock, store, errors, limiter: createLimiter({ clock, store, policies, onStoreError }) };
}

const tiers = { pro: { limit: 20 } };
const tiered: readonly (readonly [string, PolicyDefinition])[] = [
  ["fixed window", fixedWindow({ ...minute, limit: 5, tiers })],
  ["sliding window", slidingWindow({ ...minute, limit: 5, tiers })],
  ["two buckets", slidingWindowCounter({ ...minute, limit: 5, tiers })],
  ["token bucket", tokenBucket({ ...minute, limit: 5, tiers })],
  [
    "leaky bucket",
    leakyBucket({
      ...minute,
      limit: 5,
      queue: 4,
      maxDelayMs: 300_000,
      tiers: { pro: { limit: 20, queue: 19 } },
    }),
  ],
];

describe("a tier", () => {
  test.each(tiered)(
    "of a %s: 5 of 5 used, then 20: the next passes with 14 left, and back",
    (_, api) => {
      const { limiter } = limiterOf({ api });
      for (let left = 4; left >= 0; left -= 1)
        expect(limiter.check("api", ann)).toMatchObject({
          allowed: true,
          limit: 5,
          remaining: left,
        });
      expect(limiter.check("api", ann).allowed).toBe(false);
      const pro = limiter.check("api", ann, { tier: "pro" });
      expect(pro).toMatchObject({ allowed: true, limit: 20, remaining: 14 });
      expect(limiter.check("api", ann)).toMatchObject({ allowed: false, limit: 5, remaining: 0 });
      expect(
        limiter.check("api", ann, {
          limits: { api: { limit: 7, ...(api.algorithm === "leaky-bucket" && { queue: 6 }) } },
        }),
      ).toMatchObject({ allowed: true, limit: 7, remaining: 0 });
    },
  );

  it("that a policy does not have, and numbers that it cannot have, are errors", () => {
    const { limiter } = limiterOf({ api: fixedWindow({ ...minute, limit: 5, tiers }) });
    for (const tier of ["platinum", "__proto__", "constructor", ""])
      expect(() => limiter.check("api", ann, { tier })).toThrow(
        `policy "api": tier must be one of ${Object.keys(tiers).join(", ")}, got ${JSON.stringify(tier)}`,
      );
    for (const limit of [0, -1, 1.5, Number.NaN, Infinity, "5", 2 ** 53, null, 5n])
      expect(() => limiter.check("api", ann, { limits: { api: { limit } as never } })).toThrow(
        expect.objectContaining({ code: "INVALID_CHARGE" }),
      );
  });
});

describe("refund", () => {
  it("gives back once what a decision charged under all its policies", () => {
    const { limiter } = limiterOf({
      a: fixedWindow({ ...minute, limit: 5 }),
      b: tokenBucket({ ...minute, limit: 5, by: "ip" }),
    });
    const decision = limiter.check(["a", "b"], ann, { cost: 3 });
    for (let time = 0; time < 3; time += 1) {
      refund(limiter, decision);
      expect(peekAll(limiter, ann).map(({ remaining }) => remaining)).toEqual([5, 5]);
    }
  });

  it("leaves alone what other limiters charged", () => {
    const one = limiterOf({ api: fixedWindow({ ...minute, limit: 5 }) }).limiter;
    const other = limiterOf({ api: fixedWindow({ ...minute, limit: 5 }) }).limiter;
    other.check("api", ann);
    refund(other, one.check("api", ann));
    expect(other.peek("api", ann).remaining).toBe(4);
  });

  it("still gives back under policies that have been replaced since", () => {
    const { limiter } = limiterOf({ api: fixedWindow({ ...minute, limit: 5 }) });
    const decision = limiter.check("api", ann, { cost: 3 });
    limiter.replacePolicies({ api: fixedWindow({ ...minute, limit: 9, version: 2 }) });
    refund(limiter, decision);
    expect(limiter.peek("api", ann).remaining).toBe(9);
  });

  it("gives back where the decision was made: in this process, while the store fails", async () => {
    const { limiter, store } = elsewhere({ api: fixedWindow({ ...minute, limit: 5 }) });
    store.behaviour = failing;
    const decision = await limiter.check("api", ann, { cost: 4 });
    expect(decision).toMatchObject({ degraded: "local", remaining: 1 });
    await refund(limiter, decision);
    expect(await limiter.check("api", ann)).toMatchObject({ degraded: "local", remaining: 4 });
  });
});

describe("settle", () => {
  const llm = {
    requests: fixedWindow({ ...minute, limit: 10 }),
    tokens: tokenBucket({ ...minute, limit: 1_000, debt: 200 }),
  };

  it("corrects one policy of a decision and leaves the other", () => {
    const { limiter } = limiterOf(llm);
    const decision = limiter.check(["requests", "tokens"], ann, { cost: { tokens: 500 } });
    expect(settle(limiter, decision, { tokens: 800 })).toMatchObject([
      { cost: 300, allowed: true },
    ]);
    expect(peekAll(limiter, ann).map(({ remaining }) => remaining)).toEqual([9, 200]);
    const other = limiter.check(["requests", "tokens"], ann, { cost: { tokens: 100 } });
    expect(settle(limiter, other, { tokens: 40 })).toEqual([]);
    expect(limiter.peek("tokens", ann).remaining).toBe(160);
  });

  it("goes into debt as far as the policy says, and tells what it could not take", () => {
    const { limiter, clock } = limiterOf(llm);
    const decision = limiter.check("tokens", ann, { cost: 900 });
    expect(settle(limiter, decision, 5_000)).toMatchObject([{ cost: 300, allowed: false }]);
    expect(limiter.check("tokens", ann)).toMatchObject({ allowed: false, retryAfterMs: 12_060 });
    clock.advance(12_060);
    expect(limiter.check("tokens", ann).allowed).toBe(true);
  });

  it("works once, and leaves nothing to refund", () => {
    const { limiter } = limiterOf(llm);
    const decision = limiter.check("tokens", ann, { cost: 100 });
    settle(limiter, decision, 50);
    settle(limiter, decision, 1_000);
    refund(limiter, decision);
    expect(limiter.peek("tokens", ann).remaining).toBe(950);
  });

  it.each([-1, 1.5, Number.NaN, "5" as never])(
    "refuses %s as a cost, and has not begun",
    (cost) => {
      const { limiter } = limiterOf(llm);
      const decision = limiter.check("tokens", ann, { cost: 100 });
      expect(() => settle(limiter, decision, cost)).toThrow(
        expect.objectContaining({ code: "INVALID_CHARGE" }),
      );
      settle(limiter, decision, 0);
      expect(limiter.peek("tokens", ann).remaining).toBe(1_000);
    },
  );
});

describe("conclude", () => {
  const login = fixedWindow({ ...minute, limit: 5, count: "failures" });

  it("gives a success back, keeps a failure, and keeps what was abandoned", () => {
    const { limiter } = limiterOf({ login });
    for (const ending of ["success", "failure", "abandoned", "success"] as const)
      conclude(limiter, limiter.check("login", ann), ending);
    expect(limiter.peek("login", ann).remaining).toBe(3);
  });

  it("a success that clears forgets failures and strikes, and lifts no ban", () => {
    const penalty = { on: "failures", after: 3, within: "1h", ban: "1h" } as const;
    const { limiter } = limiterOf({
      login: fixedWindow({ ...minute, limit: 9, count: "failures", onSuccess: "clear", penalty }),
    });
    const open = [0, 1, 2, 3, 4].map(() => limiter.check("login", ann));
    const [a, b, c, d, e] = open as [never, never, never, never, never];
    conclude(limiter, a, "failure");
    conclude(limiter, b, "failure");
    conclude(limiter, c, "success");
    expect(limiter.peek("login", ann).remaining).toBe(9);
    ban(limiter, "login", { identity: ann, forMs: 1_000 });
    conclude(limiter, d, "success");
    conclude(limiter, e, "failure");
    expect(limiter.check("login", ann)).toMatchObject({ reason: "ban", retryAfterMs: 1_000 });
  });

  it("leaves a decision alone whose policies count everything", () => {
    const { limiter } = limiterOf({ api: fixedWindow({ ...minute, limit: 5 }) });
    conclude(limiter, limiter.check("api", ann), "success");
    expect(limiter.peek("api", ann).remaining).toBe(4);
  });
});

describe("bans", () => {
  const penalty = { after: 2, within: "1m", ban: "10m" } as const;
  const policies = {
    api: fixedWindow({ ...minute, limit: 1, penalty }),
    manual: fixedWindow({ ...minute, limit: 100, penalty: { on: "manual" } }),
    plain: fixedWindow({ ...minute, limit: 100 }),
  };

  it("end to the millisecond, and are told in decision, list and peek", () => {
    const { limiter, clock } = limiterOf(policies);
    limiter.check("api", ann);
    expect(limiter.check("api", ann)).toMatchObject({ reason: "limit", retryAfterMs: 40_000 });
    const banned = { reason: "ban", retryAfterMs: 600_000, remaining: 0, resetMs: 600_000 };
    expect(limiter.check("api", ann)).toMatchObject(banned);
    expect(bans(limiter)).toEqual([{ policyName: "api", subject: "user=ann", endsInMs: 600_000 }]);
    clock.advance(599_999);
    expect(limiter.peek("api", ann)).toMatchObject({ allowed: false, retryAfterMs: 1 });
    clock.advance(1);
    expect(bans(limiter)).toEqual([]);
    expect(limiter.check("api", ann).allowed).toBe(true);
  });

  it("by hand are for one policy and identity, until they are lifted", () => {
    const { limiter } = limiterOf(policies);
    ban(limiter, "manual", { identity: ann, forMs: 5_000 });
    expect(limiter.check("manual", ann)).toMatchObject({ reason: "ban", retryAfterMs: 5_000 });
    expect(limiter.check("manual", bob).allowed).toBe(true);
    expect(limiter.check("plain", ann).allowed).toBe(true);
    unban(limiter, "manual", ann);
    expect(limiter.check("manual", ann)).toMatchObject({ allowed: true, remaining: 99 });
  });

  it("are not to be had without a penalty, nor for no time at all", () => {
    const { limiter } = limiterOf(policies);
    expect(() => ban(limiter, "plain", { identity: ann, forMs: 5 })).toThrow(
      'ban: policy "plain" must have a penalty, such as { on: "manual" }, for bans to be looked for',
    );
    for (const forMs of [0, -1, 1.5, Infinity])
      expect(() => ban(limiter, "manual", { identity: ann, forMs })).toThrow("ban: forMs must be");
    expect(() => bans(limiter, 0)).toThrow("bans: most must be a positive integer, got 0");
  });

  it("are listed as many as were asked for", () => {
    const { limiter } = limiterOf(policies);
    for (let id = 0; id < 20; id += 1)
      ban(limiter, "manual", { identity: { user: `u${id}` }, forMs: 5_000 });
    expect(bans(limiter)).toHaveLength(20);
    expect(bans(limiter, 7)).toHaveLength(7);
  });

  it("of many strangers push out no ban from a full store", () => {
    const clock = new ManualClock(1_700_000_000_000);
    const store = memoryStore({ clock, maxKeys: 1_000 });
    const limiter = createLimiter({ clock, store, policies });
    for (let id = 0; id < 100; id += 1)
      ban(limiter, "manual", { identity: { user: `b${id}` }, forMs: 3_600_000 });
    for (let id = 0; id < 20_000; id += 1) limiter.check("api", { user: `s${id}` });
    expect(bans(limiter).length).toBeGreaterThanOrEqual(99);
    expect(store.size).toBeLessThanOrEqual(1_000);
  });
});

describe("peekAll and reset", () => {
  const policies = {
    perIp: fixedWindow({ limit: 5, window: "1m" }),
    perUser: slidingWindow({ ...minute, limit: 5 }),
    queue: leakyBucket({ ...minute, limit: 5, queue: 0 }),
    other: leakyBucket({ ...minute, limit: 5, queue: 0 }),
    perTenant: fixedWindow({ limit: 5, window: "1m", by: "tenant" }),
  };

  it("look at every policy whose key an identity has, and count nothing", () => {
    const { limiter } = limiterOf(policies);
    limiter.check(["perIp", "perUser"], ann);
    for (let time = 0; time < 2; time += 1)
      expect(
        peekAll(limiter, ann).map(({ policy, remaining }) => [policy.name, remaining]),
      ).toEqual([
        ["perIp", 4],
        ["perUser", 4],
        ["queue", 1],
        ["other", 1],
      ]);
    expect(peekAll(limiter, {})).toEqual([]);
  });

  it("touch exactly one subject of one policy", () => {
    const { limiter } = limiterOf(policies);
    for (const one of [ann, bob]) limiter.check(["perIp", "perUser"], one, { cost: 3 });
    limiter.reset("perUser", ann);
    const left = (identity: typeof ann) =>
      peekAll(limiter, identity)
        .map(({ remaining }) => remaining)
        .slice(0, 2);
    expect([left(ann), left(bob)]).toEqual([
      [2, 5],
      [2, 2],
    ]);
  });
});

describe("replacing policies", () => {
  const api = (limit: number, options = {}) => fixedWindow({ ...minute, limit, ...options });

  it.each([
    ["keep", 19],
    ["scale", 15],
    ["reset", 20],
  ] as const)("by the rule %s", (migrate, remaining) => {
    const { limiter } = limiterOf({ api: api(4) });
    limiter.check("api", ann);
    limiter.replacePolicies({ api: api(20, { version: 2, migrate }) });
    expect(limiter.peek("api", ann).remaining).toBe(remaining);
  });

  it("must keep every name, and changes nothing when it is wrong", () => {
    const { limiter } = limiterOf({ api: api(5), other: api(5) });
    const { policies } = limiter;
    expect(() => limiter.replacePolicies({ api: api(6) } as never)).toThrow(
      expect.objectContaining({ code: "UNKNOWN_POLICY" }),
    );
    expect(() => limiter.replacePolicies({ api: api(6), other: { limit: 0 } as never })).toThrow(
      expect.objectContaining({ code: "INVALID_POLICY" }),
    );
    expect(limiter.policies).toBe(policies);
  });

  it("never reads the state of another algorithm as one of its own", () => {
    const { limiter, clock } = limiterOf({ api: api(10) });
    limiter.check("api", ann, { cost: 4 });
    limiter.replacePolicies({ api: tokenBucket({ ...minute, limit: 10, version: 2 }) });
    expect(limiter.check("api", ann)).toMatchObject({ allowed: true, remaining: 5 });
    clock.advance(30_000);
    expect(limiter.peek("api", ann, { cost: 0 }).remaining).toBe(10);
  });
});

describe("an asynchronous store", () => {
  it("answers the same, later, and a failure of it rejects", async () => {
    const { limiter, store } = elsewhere({
      login: fixedWindow({ ...minute, limit: 5, count: "failures", penalty: { on: "manual" } }),
    });
    const decision = await limiter.check("login", ann);
    await conclude(limiter, decision, "success");
    expect((await limiter.peek("login", ann)).remaining).toBe(5);
    await ban(limiter, "login", { identity: ann, forMs: 50 });
    expect(await bans(limiter)).toHaveLength(1);
    expect((await peekAll(limiter, ann))[0]).toMatchObject({ banMs: 50 });
    store.behaviour = failing;
    await expect(peekAll(limiter, ann)).rejects.toMatchObject({ code: "STORE_FAILURE" });
  });
});
