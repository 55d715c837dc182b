import { describe, expect, it, test } from "vitest";
import { createLimiter, type Limiter } from "../../src/limiter/limiter.js";
import { ban, bans, unban } from "../../src/policies/index.js";
import { fixedWindow, leakyBucket, tokenBucket } from "../../src/policy/builders.js";
import { definePolicy } from "../../src/policy/define.js";
import { memoryStore } from "../../src/store/memory/memory-store.js";
import type { SyncStore } from "../../src/store/store.js";
import { ManualClock } from "../../src/testing/index.js";

const ann = { ip: "192.0.2.1", user: "ann" };
const minute = { window: "1m", by: "user" } as const;

describe("a caller's own numbers", () => {
  const limiterOf = (): Limiter<string, SyncStore> =>
    createLimiter<string>({
      clock: new ManualClock(1_700_000_000_000),
      policies: {
        api: fixedWindow({ ...minute, limit: 5 }),
        bucket: tokenBucket({ ...minute, limit: 5, burst: 3 }),
        queue: leakyBucket({ ...minute, limit: 60, queue: 2 }),
        constructor: fixedWindow({ ...minute, limit: 5 }),
      },
    });
  const refusal = expect.objectContaining({ code: "INVALID_CHARGE" });

  it("count where they are a record's own or come from its class", () => {
    const limiter = limiterOf();
    class Plan {
      get limit(): number {
        return 20;
      }
    }
    expect(limiter.peek("api", ann, { limits: { api: new Plan() } }).limit).toBe(20);
    expect(limiter.peek("api", ann, { limits: { api: { limit: 20 } } }).limit).toBe(20);
    expect(limiter.peek("api", ann, { limits: { api: { limit: 21 } } }).limit).toBe(21);
  });

  it("are read once, so that what was checked is what counts", () => {
    const limiter = limiterOf();
    let reads = 0;
    const turning = {
      get limit(): number {
        reads += 1;
        return reads > 1 ? Infinity : 7;
      },
    };
    expect(limiter.peek("api", ann, { limits: { api: turning } }).limit).toBe(7);
  });

  it("must be numbers that the policy has, also when the same ones have been right before", () => {
    const limiter = limiterOf();
    const wrong = { limit: 9, window: "1h" } as never;
    for (let time = 0; time < 2; time += 1) {
      expect(() => limiter.peek("api", ann, { limits: { api: wrong } })).toThrow(refusal);
      expect(limiter.peek("api", ann, { limits: { api: { limit: 9 } } }).limit).toBe(9);
    }
    for (const numbers of [
      { limit: 9, burst: 2 },
      { limit: 9, queue: 2 },
    ])
      expect(() => limiter.peek("api", ann, { limits: { api: numbers } })).toThrow(refusal);
    for (const numbers of [[9], "9", 9, true, null, () => 9, { LIMIT: 9 }, { limit: -0 }])
      expect(() => limiter.peek("api", ann, { limits: { api: numbers as never } })).toThrow(
        refusal,
      );
  });

  it("count alike in any order, and never beside a field that is none of them, which is told", () => {
    const limiter = limiterOf();
    const told =
      'policy "bucket": cannot have these limits: planId is not one of the numbers that may differ, got 1';
    for (let time = 0; time < 2; time += 1) {
      for (const numbers of [
        { limit: 7, burst: 9 },
        { burst: 9, limit: 7 },
        { burst: 9, limit: 7, queue: undefined },
      ])
        expect(limiter.peek("bucket", ann, { limits: { bucket: numbers as never } }).limit).toBe(9);
      for (const numbers of [
        { limit: 7, burst: 9, planId: 1 },
        { planId: 1, burst: 9, limit: 7 },
      ])
        expect(() => limiter.peek("bucket", ann, { limits: { bucket: numbers } })).toThrow(told);
    }
    expect(() => limiter.peek("bucket", ann, { limits: { bucket: 7 as never } })).toThrow(
      "limit must stand in { limit: 5 }, got 7",
    );
  });

  it("of a policy are never another object's members", () => {
    const limiter = limiterOf();
    expect(limiter.peek("constructor", ann, { limits: {} }).limit).toBe(5);
    expect(limiter.peek("constructor", ann, { limits: { api: { limit: 9 } } }).limit).toBe(5);
    expect(limiter.peek("api", ann, { limits: { api: undefined } as never }).limit).toBe(5);
  });

  it("keep a burst or a queue that they do not name, and hold nobody too long", () => {
    const limiter = limiterOf();
    expect(limiter.peek("bucket", ann, { limits: { bucket: { limit: 50 } } }).limit).toBe(3);
    expect(limiter.peek("bucket", ann, { limits: { bucket: { limit: 50, burst: 9 } } }).limit).toBe(
      9,
    );
    expect(limiter.peek("queue", ann, { limits: { queue: { limit: 60, queue: -0 } } }).limit).toBe(
      1,
    );
    const slow = { queue: { limit: 1 } };
    expect(() => limiter.peek("queue", ann, { limits: slow })).toThrow(refusal);
  });

  it("can be a thousand different ones and more", () => {
    const limiter = limiterOf();
    for (let limit = 1; limit <= 2_500; limit += 1)
      expect(limiter.check("api", ann, { limits: { api: { limit: 5 + limit } } })).toMatchObject({
        limit: 5 + limit,
        remaining: 5,
      });
  });
});

describe("the numbers of a penalty", () => {
  const penalty = { after: 3, within: 1_000, ban: 1_000 };
  const define = (more: object) => () =>
    definePolicy("api", {
      algorithm: "fixed-window",
      limit: 5,
      window: "1m",
      penalty: { ...penalty, ...more },
    });

  test.each(["within", "ban"])("%s must leave instants exact", (field) => {
    expect(define({ [field]: 2 ** 51 })().penalty).toMatchObject({ [`${field}Ms`]: 2 ** 51 });
    expect(define({ [field]: 2 ** 51 + 1 })).toThrow(
      `policy "api": penalty.${field} is too large for exact arithmetic (at most 2251799813685248), got 2251799813685249`,
    );
    expect(define({ [field]: undefined, [`${field}Ms`]: 2 ** 53 - 1 })).toThrow(
      `penalty.${field}Ms is too large`,
    );
  });
});

describe("bans of strangers", () => {
  it("are lifted and forgotten without a trace", () => {
    const clock = new ManualClock(1_700_000_000_000);
    const store = memoryStore({ clock });
    const api = fixedWindow({ ...minute, limit: 5, penalty: { on: "manual" } });
    const limiter = createLimiter({ clock, store, policies: { api } });
    unban(limiter, "api", ann);
    limiter.reset("api", ann);
    expect(store.size).toBe(0);
    ban(limiter, "api", { identity: ann, forMs: 1_000 });
    expect(store.size).toBe(1);
    unban(limiter, "api", ann);
    expect([store.size, bans(limiter)]).toEqual([0, []]);
  });
});
