import { describe, expect, it } from "vitest";
import { RequestRecord } from "../../src/http/record.js";
import { createLimiter } from "../../src/limiter/limiter.js";
import { bans, conclude, peekAll, refund, settle } from "../../src/policies/index.js";
import { fixedWindow, tokenBucket } from "../../src/policy/builders.js";
import type { PolicyDefinition } from "../../src/policy/policy.js";
import { ManualClock } from "../../src/testing/index.js";
import { guardOf } from "../http/guarded.js";
import { FakeStore, failing } from "../limiter/fake-store.js";

const ann = { ip: "203.0.113.9" };
const minute = { window: "1m" } as const;

function limiterOf<const N extends string>(policies: Readonly<Record<N, PolicyDefinition>>) {
  return createLimiter({ clock: new ManualClock(1_700_000_000_000), policies });
}

function elsewhere<const N extends string>(policies: Readonly<Record<N, PolicyDefinition>>) {
  const clock = new ManualClock(1_700_000_000_000);
  const store = new FakeStore(clock);
  return { store, limiter: createLimiter({ clock, store, policies, onStoreError: () => {} }) };
}

describe("a settlement by policy names", () => {
  const policies = {
    login: fixedWindow({ ...minute, limit: 5, count: "failures" }),
    tokens: tokenBucket({ ...minute, limit: 1_000 }),
    bytes: tokenBucket({ ...minute, limit: 1_000 }),
  };

  it("of a name that the limiter does not have is an error, and has not begun", () => {
    const limiter = limiterOf(policies);
    const decision = limiter.check(["tokens", "bytes"], ann, { cost: 500 });
    for (const name of ["token", "constructor", "__proto__x"])
      expect(() => settle(limiter, decision, { tokens: 800, [name]: 1 })).toThrow(
        expect.objectContaining({
          code: "UNKNOWN_POLICY",
          message: `policy "${name}" is not one of this limiter's: login, tokens, bytes`,
        }),
      );
    expect(limiter.peek("tokens", ann).remaining).toBe(500);
    settle(limiter, decision, { tokens: 800 });
    expect(limiter.peek("tokens", ann).remaining).toBe(200);
  });

  it("leaves the others as they were charged, for a later settlement, refund or ending", () => {
    const limiter = limiterOf(policies);
    const left = () => peekAll(limiter, ann).map(({ remaining }) => remaining);
    const decision = limiter.check(["login", "tokens", "bytes"], ann, {
      cost: { tokens: 500, bytes: 300 },
    });
    expect(left()).toEqual([4, 500, 700]);
    settle(limiter, decision, { tokens: 600 });
    expect(left()).toEqual([4, 400, 700]);
    settle(limiter, decision, { bytes: 100 });
    expect(left()).toEqual([4, 400, 900]);
    conclude(limiter, decision, "success");
    expect(left()).toEqual([5, 400, 900]);
  });

  it("works once for each of them", () => {
    const limiter = limiterOf(policies);
    const decision = limiter.check(["tokens", "bytes"], ann, { cost: 500 });
    settle(limiter, decision, { tokens: 600 });
    settle(limiter, decision, { tokens: 0 });
    expect(limiter.peek("tokens", ann).remaining).toBe(400);
    refund(limiter, decision);
    expect(peekAll(limiter, ann).map(({ remaining }) => remaining)).toEqual([5, 400, 1_000]);
  });

  it("leaves alone what it gives no number for", () => {
    const limiter = limiterOf(policies);
    const decision = limiter.check("tokens", ann, { cost: 500 });
    settle(limiter, decision, { tokens: undefined as never });
    expect(limiter.peek("tokens", ann).remaining).toBe(500);
  });

  it("by one number is of all that was charged, and works once", () => {
    const limiter = limiterOf(policies);
    const decision = limiter.check(["tokens", "bytes"], ann, { cost: 500 });
    settle(limiter, decision, 100);
    settle(limiter, decision, { bytes: 700 });
    expect(peekAll(limiter, ann).map(({ remaining }) => remaining)).toEqual([5, 900, 900]);
  });
});

describe("what a request has decided under several limiters", () => {
  const api = fixedWindow({ ...minute, limit: 9 });

  /** One request through a mount of each limiter, in order. */
  async function decidedBy(...limiters: readonly unknown[]) {
    const record = new RequestRecord();
    for (const limiter of limiters) await guardOf(limiter as never, ["api"])({}, record);
    return record.decision as NonNullable<typeof record.decision>;
  }

  it("is given back by each of them alone, though the name of the policy is the same", async () => {
    const one = limiterOf({ api });
    const other = limiterOf({ api });
    one.check("api", ann, { cost: 3 });
    refund(other, await decidedBy(one, other));
    expect([one, other].map((limiter) => limiter.peek("api", ann).remaining)).toEqual([5, 9]);
  });

  it("is given back in the store of one, while that of the other fails", async () => {
    const well = elsewhere({ api });
    const ill = elsewhere({ api });
    ill.store.behaviour = failing;
    const left = async () =>
      await Promise.all(
        [well, ill].map(async ({ limiter }) => (await limiter.peek("api", ann)).remaining),
      );
    const decision = await decidedBy(well.limiter, ill.limiter);
    expect(decision.degraded).toBe("local");
    expect(await left()).toEqual([8, 8]);
    await refund(well.limiter, decision);
    expect(await left()).toEqual([9, 8]);
    await refund(ill.limiter, decision);
    expect(await left()).toEqual([9, 9]);
  });

  it("is given back in this process by nobody but whose store failed", async () => {
    const here = limiterOf({ api });
    const ill = elsewhere({ api });
    ill.store.behaviour = failing;
    const left = async () => [
      here.peek("api", ann).remaining,
      (await ill.limiter.peek("api", ann)).remaining,
    ];
    const decision = await decidedBy(here, ill.limiter);
    expect(await left()).toEqual([8, 8]);
    refund(here, decision);
    expect(await left()).toEqual([9, 8]);
    await settle(ill.limiter, decision, { api: 4 });
    expect(await left()).toEqual([9, 5]);
  });

  it("is not for another limiter on the store, of what the first counted while it failed", async () => {
    const { store, limiter } = elsewhere({ api });
    const other = createLimiter({ store, policies: { api }, onStoreError: () => {} });
    await other.check("api", ann, { cost: 5 });
    store.behaviour = failing;
    const decision = await limiter.check("api", ann, { cost: 2 });
    store.behaviour = store.well;
    await refund(other, decision);
    expect((await other.peek("api", ann)).remaining).toBe(4);
    await refund(limiter, decision);
    store.behaviour = failing;
    expect((await limiter.check("api", ann)).remaining).toBe(8);
  });

  it.each([1, 0.5])(
    "is taken back where each part was charged, when the store failed in between (local share %d)",
    async (localShare) => {
      const { store, limiter } = elsewhere({
        api: fixedWindow({ ...minute, limit: 20, localShare }),
      });
      const record = new RequestRecord();
      const admit = (cost: number) => guardOf(limiter as never, ["api"], { cost })({}, record);
      const capacity = 20 * localShare;
      const left = async () => {
        const local = (await limiter.peek("api", ann)).remaining;
        store.behaviour = store.well;
        const stored = (await limiter.peek("api", ann)).remaining;
        store.behaviour = failing;
        return [stored, local];
      };
      await admit(3);
      store.behaviour = failing;
      await admit(5);
      expect(await left()).toEqual([17, capacity - 2]);
      await settle(limiter, record.decision as never, 1);
      expect(await left()).toEqual([19, capacity]);
    },
  );
});

describe("strikes of one request", () => {
  const penalty = { on: "failures", after: 2, within: "1m", ban: "1h" } as const;
  const login = fixedWindow({ ...minute, limit: 50, count: "failures", penalty });

  it("are one under one policy, when one decision has several charges", () => {
    const limiter = limiterOf({ login });
    const record = new RequestRecord();
    for (const cost of [1, 3, 7]) guardOf(limiter as never, ["login"], { cost })({}, record);
    conclude(limiter, record.decision as never, "failure");
    expect(bans(limiter)).toEqual([]);
    conclude(limiter, limiter.check("login", ann), "failure");
    expect(bans(limiter)).toHaveLength(1);
  });
});
