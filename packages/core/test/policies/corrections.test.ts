import { describe, expect, it, test } from "vitest";
import type { Decision } from "../../src/decision/decision.js";
import { createLimiter } from "../../src/limiter/limiter.js";
import { ban, bans, conclude, peekAll, refund, settle, unban } from "../../src/policies/index.js";
import { fixedWindow, slidingWindow, tokenBucket } from "../../src/policy/builders.js";
import type { PolicyDefinition } from "../../src/policy/policy.js";
import { memoryStore } from "../../src/store/memory/memory-store.js";
import { ManualClock } from "../../src/testing/index.js";
import { FakeStore, failing } from "../limiter/fake-store.js";

const ann = { ip: "192.0.2.1", user: "ann" };
const minute = { window: "1m", by: "user" } as const;
const clock = () => new ManualClock(1_700_000_000_000);

function elsewhere<const N extends string>(policies: Readonly<Record<N, PolicyDefinition>>) {
  const store = new FakeStore(clock());
  return { store, limiter: createLimiter({ store, policies, onStoreError: () => {} }) };
}

describe("a decision", () => {
  const policies = { api: fixedWindow({ ...minute, limit: 10, count: "failures" }) };
  const corrections = [
    ["refund", refund],
    ["settle", (limiter, decision) => settle(limiter, decision, 1)],
    ["conclude", (limiter, decision) => conclude(limiter, decision, "failure")],
  ] as const satisfies readonly (readonly [string, (limiter: never, decision: never) => unknown])[];

  test.each(corrections)("is left alone by everything after a %s", (_, correct) => {
    const limiter = createLimiter({ clock: clock(), policies });
    const decision = limiter.check("api", ann, { cost: 4 });
    correct(limiter as never, decision as never);
    const { remaining } = limiter.peek("api", ann);
    refund(limiter, decision);
    settle(limiter, decision, 9);
    conclude(limiter, decision, "success");
    conclude(limiter, decision, "abandoned");
    expect(limiter.peek("api", ann).remaining).toBe(remaining);
  });

  it("that refused, or cost nothing, has nothing to correct", () => {
    const limiter = createLimiter({ clock: clock(), policies });
    const free = limiter.check("api", ann, { cost: 0 });
    limiter.check("api", ann, { cost: 10 });
    for (const decision of [free, limiter.check("api", ann)]) {
      refund(limiter, decision);
      expect(settle(limiter, decision, 5)).toEqual([]);
      conclude(limiter, decision, "success");
    }
    expect(limiter.peek("api", ann).remaining).toBe(0);
  });

  it("made of several is settled as a whole: one policy and subject, paid for in steps", () => {
    const limiter = createLimiter({
      clock: clock(),
      policies: { tokens: tokenBucket({ ...minute, limit: 100, debt: 20 }) },
    });
    const steps = [30, 20].map((cost) => limiter.check("tokens", ann, { cost }));
    const whole = (): Decision => {
      const [first, second] = steps as [Decision, Decision];
      return { ...second, outcomes: [...first.outcomes, ...second.outcomes] };
    };
    expect(settle(limiter, whole(), 60)).toMatchObject([{ cost: 10, allowed: true }]);
    expect(limiter.peek("tokens", ann).remaining).toBe(40);
    settle(limiter, whole(), 0);
    refund(limiter, steps[0] as Decision);
    expect(limiter.peek("tokens", ann).remaining).toBe(40);
  });

  it("made of several gives back the latest first when it turns out cheaper", () => {
    const limiter = createLimiter({
      clock: clock(),
      policies: { tokens: slidingWindow({ ...minute, limit: 100 }) },
    });
    const [first, second] = [30, 20].map((cost) => limiter.check("tokens", ann, { cost }));
    const outcomes = [...(first?.outcomes ?? []), ...(second?.outcomes ?? [])];
    settle(limiter, { ...(second as Decision), outcomes }, 25);
    expect(limiter.peek("tokens", ann).remaining).toBe(75);
  });

  it("under a shadow policy is corrected with the enforced ones", () => {
    const limiter = createLimiter({
      clock: clock(),
      policies: { ...policies, trial: fixedWindow({ ...minute, limit: 10, shadow: true }) },
    });
    refund(limiter, limiter.check(["api", "trial"], ann, { cost: 3 }));
    expect(peekAll(limiter, ann).map(({ remaining }) => remaining)).toEqual([10, 10]);
  });

  it("that was open while its policy was replaced is concluded by the rules it was made under", () => {
    const limiter = createLimiter({ clock: clock(), policies });
    const [good, bad] = [limiter.check("api", ann), limiter.check("api", ann)];
    limiter.replacePolicies({ api: fixedWindow({ ...minute, limit: 20, version: 2 }) });
    conclude(limiter, good, "success");
    conclude(limiter, bad, "failure");
    expect(limiter.peek("api", ann).remaining).toBe(19);
  });

  it("that was open while its algorithm was replaced gives nothing back, and takes nothing", () => {
    const limiter = createLimiter({ clock: clock(), policies });
    const decision = limiter.check("api", ann, { cost: 4 });
    limiter.replacePolicies({ api: slidingWindow({ ...minute, limit: 10, version: 2 }) });
    limiter.check("api", ann);
    refund(limiter, decision);
    expect(limiter.peek("api", ann).remaining).toBe(5);
  });

  it("of a caller's tier is settled by the tier's numbers", () => {
    const tokens = tokenBucket({ ...minute, limit: 10, tiers: { pro: { limit: 100 } } });
    const limiter = createLimiter({ clock: clock(), policies: { tokens } });
    const decision = limiter.check("tokens", ann, { cost: 10, tier: "pro" });
    expect(settle(limiter, decision, 60)).toMatchObject([{ cost: 50, allowed: true, limit: 100 }]);
  });
});

describe("the limiter's surface", () => {
  const limiter = createLimiter({
    clock: clock(),
    policies: {
      api: fixedWindow({ ...minute, limit: 5, tiers: { pro: { limit: 20 } } }),
      login: fixedWindow({ ...minute, limit: 5, penalty: { on: "manual" } }),
    },
  });

  test.each([
    ["check", () => limiter.check("apy" as never, ann)],
    ["ban", () => ban(limiter, "apy" as never, { identity: ann, forMs: 5 })],
    ["unban", () => unban(limiter, "apy" as never, ann)],
    ["limits", () => limiter.check("api", ann, { limits: { apy: { limit: 5 } } as never })],
    ["settle", () => settle(limiter, limiter.check("api", ann), { apy: 5 } as never)],
  ])("names the policies that there are when %s names none of them", (_what, call) => {
    expect(call).toThrow('policy "apy" is not one of this limiter\'s: api, login');
  });

  test.each([
    ["api" as const, {}, 'policy "api": identity must have "user" as text that is not blank'],
    ["login" as const, { user: " " }, 'policy "login": identity must have "user"'],
  ])("asks %s's identity of %j", (name, identity, message) => {
    expect(() => limiter.check(name, identity, { tier: "pro" })).toThrow(message);
    if (name === "login") expect(() => ban(limiter, name, { identity, forMs: 5 })).toThrow(message);
  });

  it("says which numbers a policy cannot have", () => {
    expect(() => limiter.check("api", ann, { limits: { api: { limit: 0 } } })).toThrow(
      'policy "api": cannot have these limits: limit must be a positive integer, got 0',
    );
    expect(() => limiter.check("api", ann, { tier: 5 as never })).toThrow(
      'policy "api": tier must be one of pro, got 5',
    );
    expect(() => limiter.check("api", ann, { teir: "pro" } as never)).toThrow(
      "check: teir is not an option (known: cost, tier, limits), got",
    );
  });

  it("bans under a tier what is banned under another", () => {
    const penalty = { after: 1, within: "1m", ban: "1h" } as const;
    const tiers = { pro: { limit: 20 } };
    const one = createLimiter({
      clock: clock(),
      policies: { api: fixedWindow({ ...minute, limit: 5, tiers, penalty }) },
    });
    expect(one.check("api", ann, { cost: 6 })).toMatchObject({ reason: "never" });
    expect(one.check("api", ann, { tier: "pro" })).toMatchObject({ reason: "ban", limit: 20 });
    expect(bans(one)).toHaveLength(1);
  });
});

describe("over an asynchronous store", () => {
  const policies = {
    login: fixedWindow({
      ...minute,
      limit: 5,
      count: "failures",
      penalty: { on: "failures", after: 2, within: "1m", ban: "1m" },
    }),
    api: tokenBucket({ ...minute, limit: 5, debt: 5 }),
  };

  it("settles both ways at once", async () => {
    const { limiter } = elsewhere(policies);
    const decision = await limiter.check(["login", "api"], ann, { cost: 3 });
    const settled = await settle(limiter, decision, { login: 1, api: 7 });
    expect(settled).toMatchObject([{ cost: 4, allowed: true }]);
    expect((await peekAll(limiter, ann)).map(({ remaining }) => remaining)).toEqual([4, 0]);
  });

  it("rejects with the store's failure, and has used the receipts: what is lost is stricter, never looser", async () => {
    const { limiter, store } = elsewhere(policies);
    const decision = await limiter.check("api", ann, { cost: 3 });
    store.behaviour = failing;
    await expect(settle(limiter, decision, 5)).rejects.toMatchObject({ code: "STORE_FAILURE" });
    store.behaviour = store.well;
    expect(await settle(limiter, decision, 5)).toEqual([]);
    expect((await limiter.peek("api", ann)).remaining).toBe(2);
  });

  it("concludes in this process what this process decided while the store failed", async () => {
    const { limiter, store } = elsewhere(policies);
    store.behaviour = failing;
    const [good, bad] = [await limiter.check("login", ann), await limiter.check("login", ann)];
    await conclude(limiter, good, "success");
    await conclude(limiter, bad, "failure");
    expect(await limiter.check("login", ann)).toMatchObject({ degraded: "local", remaining: 3 });
    store.behaviour = store.well;
    expect((await limiter.peek("login", ann)).remaining).toBe(5);
  });

  it("bans in the store, and in this process by what it saw while the store failed", async () => {
    const { limiter, store } = elsewhere(policies);
    store.behaviour = failing;
    for (let time = 0; time < 2; time += 1)
      await conclude(limiter, await limiter.check("login", ann), "failure");
    expect(await limiter.check("login", ann)).toMatchObject({ reason: "ban", degraded: "local" });
    store.behaviour = store.well;
    expect(await limiter.check("login", ann)).toMatchObject({ allowed: true, degraded: "none" });
    await ban(limiter, "login", { identity: ann, forMs: 5_000 });
    expect(await limiter.check("login", ann)).toMatchObject({ reason: "ban" });
    await unban(limiter, "login", ann);
    expect(await bans(limiter)).toEqual([]);
  });

  it("resets one identity under one policy, here and there", async () => {
    const { limiter, store } = elsewhere(policies);
    await limiter.check(["login", "api"], ann, { cost: 5 });
    store.behaviour = failing;
    await limiter.check(["login", "api"], ann, { cost: 5 });
    store.behaviour = store.well;
    await limiter.reset("login", ann);
    expect((await peekAll(limiter, ann)).map(({ remaining }) => remaining)).toEqual([5, 0]);
    store.behaviour = failing;
    expect(await limiter.check("login", ann)).toMatchObject({ degraded: "local", remaining: 4 });
    expect(await limiter.check("api", ann)).toMatchObject({ degraded: "local", allowed: false });
  });
});

describe("strikes of strangers", () => {
  it("never take more room than the store has, nor a ban's place", () => {
    const time = clock();
    const store = memoryStore({ clock: time, maxKeys: 500 });
    const penalty = { after: 2, within: "1h", ban: "1h" } as const;
    const api = fixedWindow({ ...minute, limit: 1, penalty });
    const limiter = createLimiter({ clock: time, store, policies: { api } });
    for (let id = 0; id < 50; id += 1)
      for (let call = 0; call < 3; call += 1) limiter.check("api", { user: `banned${id}` });
    for (let id = 0; id < 5_000; id += 1)
      for (let call = 0; call < 2; call += 1) limiter.check("api", { user: `struck${id}` });
    expect(store.size).toBeLessThanOrEqual(500);
    const kept = bans(limiter, 1_000).filter(({ subject }) => subject.includes("banned"));
    expect(kept.length).toBeGreaterThanOrEqual(49);
  });
});
