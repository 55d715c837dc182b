import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { HeadgateError } from "../../src/errors.js";
import { createLimiter } from "../../src/limiter/limiter.js";
import { fixedWindow, leakyBucket, slidingWindow, tokenBucket } from "../../src/policy/builders.js";
import type { Outcome } from "../../src/store/store.js";
import { ManualClock } from "../../src/testing/index.js";
import { type Behaviour, FakeStore, failing, silent } from "./fake-store.js";

const ann = { ip: "192.0.2.1", user: "ann" };
const unhandled: unknown[] = [];
const noteUnhandled = (reason: unknown) => unhandled.push(reason);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  unhandled.length = 0;
  process.on("unhandledRejection", noteUnhandled);
});

afterEach(async () => {
  vi.useRealTimers();
  // Rejections without a handler are reported once the microtasks have run.
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", noteUnhandled);
  expect(unhandled).toEqual([]);
});

function setUp({ deadlineMs = 200 } = {}) {
  const clock = new ManualClock(1_700_000_000_000);
  const store = new FakeStore(clock);
  const errors: HeadgateError[] = [];
  const options = { window: "1m", by: "user" } as const;
  const limiter = createLimiter({
    clock,
    store,
    deadlineMs,
    onStoreError: (error) => errors.push(error),
    policies: {
      local: tokenBucket({ ...options, limit: 4 }),
      half: fixedWindow({ ...options, limit: 8, localShare: 0.5 }),
      open: fixedWindow({ ...options, limit: 5, onStoreFailure: "open" }),
      open2: fixedWindow({ ...options, limit: 6, onStoreFailure: "open" }),
      closed: slidingWindow({ ...options, limit: 7, onStoreFailure: "closed" }),
      closed2: slidingWindow({ ...options, limit: 9, onStoreFailure: "closed" }),
      queue: leakyBucket({ ...options, window: "1s", limit: 2, queue: 4, localShare: 0.5 }),
    },
  });
  /** Calls until the breaker opens. */
  const trip = async () => {
    store.behaviour = failing;
    for (let call = 0; call < 5; call += 1) await limiter.check("open", ann);
    store.batches.length = 0;
    errors.length = 0;
  };
  return { clock, store, errors, limiter, trip };
}

describe("a store that is well", () => {
  it("decides, in one call whatever the number of policies", async () => {
    const { limiter, store } = setUp();
    const answer = limiter.check(["local", "open", "closed"], ann);
    expect(answer).toBeInstanceOf(Promise);
    expect(await answer).toMatchObject({ allowed: true, degraded: "none", remaining: 3 });
    expect(store.batches).toHaveLength(1);
    expect(store.batches[0]).toHaveLength(3);
    expect((await limiter.peek("local", ann)).remaining).toBe(3);
    await limiter.reset("local", ann);
    expect((await limiter.peek("local", ann)).remaining).toBe(4);
  });

  it("is never asked for the fallback's opinion when the limit is exceeded", async () => {
    const { limiter } = setUp();
    for (let call = 0; call < 4; call += 1) await limiter.check("local", ann);
    for (let call = 0; call < 20; call += 1)
      expect(await limiter.check("local", ann)).toMatchObject({ allowed: false, degraded: "none" });
  });

  it("leaves no timer behind", async () => {
    const { limiter } = setUp();
    await limiter.check("local", ann);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is closed by the limiter once", async () => {
    const { limiter, store } = setUp();
    await limiter.close();
    expect(store.closed).toBe(1);
  });
});

describe("the deadline", () => {
  it("is waited for once, whatever the number of policies", async () => {
    const { limiter, store, errors } = setUp();
    store.behaviour = silent;
    let decided = false;
    const answer = limiter.check(["local", "half", "open"], ann).then((decision) => {
      decided = true;
      return decision;
    });
    await vi.advanceTimersByTimeAsync(199);
    expect(decided).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await answer).toMatchObject({ allowed: true, degraded: "local" });
    expect(store.batches).toHaveLength(1);
    expect(errors.map(({ code, message }) => [code, message])).toEqual([
      ["STORE_TIMEOUT", "store: no answer within 200 ms"],
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is what deadlineMs says", async () => {
    const { limiter, store, errors } = setUp({ deadlineMs: 50 });
    store.behaviour = silent;
    const answer = limiter.check("closed", ann);
    await vi.advanceTimersByTimeAsync(50);
    expect((await answer).allowed).toBe(false);
    expect(errors[0]?.message).toContain("50 ms");
  });

  it("hears an answer that came in while the process was busy, although a store tells it two turns later", async () => {
    const { limiter, store, errors } = setUp();
    const { well } = store;
    store.behaviour = async (...call) => {
      await Promise.resolve();
      // As after a long turn: timers come before what has been received.
      vi.advanceTimersByTime(1_000);
      for (const _turn of ["first", "second"]) await new Promise((next) => setImmediate(next));
      return well(...call);
    };
    expect(await limiter.check("local", ann)).toMatchObject({ degraded: "none", remaining: 3 });
    expect(errors).toEqual([]);
  });

  it("lets a late answer, and a late failure, pass without a trace", async () => {
    const { limiter, store } = setUp();
    for (const ending of ["answer", "failure"]) {
      let end = () => {};
      store.behaviour = () =>
        new Promise((resolve, reject) => {
          end = () => (ending === "answer" ? resolve([]) : reject(new Error("late")));
        });
      const answer = limiter.check("local", ann);
      await vi.advanceTimersByTimeAsync(200);
      expect((await answer).degraded).toBe("local");
      end();
      await vi.advanceTimersByTimeAsync(0);
    }
    store.behaviour = store.well;
    expect(await limiter.check("local", ann)).toMatchObject({ degraded: "none", remaining: 3 });
  });

  it("bounds a reset too, which then rejects", async () => {
    const { limiter, store } = setUp();
    store.behaviour = silent;
    const reset = expect(limiter.reset("local", ann)).rejects.toMatchObject({
      code: "STORE_TIMEOUT",
    });
    await vi.advanceTimersByTimeAsync(200);
    await reset;
  });
});

describe("failure modes", () => {
  it("local: the same policy in this process, with all its numbers", async () => {
    const { limiter, store } = setUp();
    store.behaviour = failing;
    const decisions = [];
    for (let call = 0; call < 5; call += 1) decisions.push(await limiter.check("local", ann));
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, true, false]);
    expect(decisions.map(({ remaining }) => remaining)).toEqual([3, 2, 1, 0, 0]);
    expect(decisions[4]).toMatchObject({
      reason: "limit",
      degraded: "local",
      limit: 4,
      retryAfterMs: 15_000,
      resetMs: 60_000,
    });
  });

  it("local: starts from nothing, and goes back to the store once it is well", async () => {
    const { limiter, store } = setUp();
    await limiter.check("local", ann, { cost: 3 });
    store.behaviour = failing;
    expect(await limiter.check("local", ann)).toMatchObject({ remaining: 3, degraded: "local" });
    store.behaviour = store.well;
    expect(await limiter.check("local", ann)).toMatchObject({ remaining: 0, degraded: "none" });
    expect(await limiter.check("local", ann)).toMatchObject({ allowed: false, degraded: "none" });
  });

  it("local: a reset while the store fails reaches what this process counts", async () => {
    const { limiter, store } = setUp();
    store.behaviour = failing;
    await limiter.check("local", ann, { cost: 4 });
    await expect(limiter.reset("local", ann)).rejects.toMatchObject({ code: "STORE_FAILURE" });
    expect(await limiter.peek("local", ann)).toMatchObject({ remaining: 4, degraded: "local" });
  });

  it("local: a peek counts nothing here either", async () => {
    const { limiter, store } = setUp();
    store.behaviour = failing;
    for (let call = 0; call < 9; call += 1)
      expect((await limiter.peek("local", ann)).remaining).toBe(4);
  });

  it("localShare: this process grants its share, and calls nothing impossible that fits the whole", async () => {
    const { limiter, store } = setUp();
    store.behaviour = failing;
    expect(await limiter.check("half", ann)).toMatchObject({ limit: 4, remaining: 3 });
    expect(await limiter.check("half", ann, { cost: 6 })).toMatchObject({
      allowed: false,
      reason: "limit",
    });
    expect(await limiter.check("half", ann, { cost: 9 })).toMatchObject({ reason: "never" });
    expect(await limiter.check("half", { user: "bob" }, { cost: 6 })).toMatchObject({
      allowed: true,
      remaining: 0,
    });
  });

  it("localShare: a slower queue still holds nobody longer than the policy allows", async () => {
    const { limiter, store } = setUp();
    store.behaviour = failing;
    expect(await limiter.check("queue", ann)).toMatchObject({ limit: 3, delayMs: 0 });
    expect(await limiter.check("queue", ann)).toMatchObject({ delayMs: 1_000 });
    expect(await limiter.check("queue", ann)).toMatchObject({ delayMs: 2_000, remaining: 0 });
    expect((await limiter.check("queue", ann)).allowed).toBe(false);
  });

  it("localShare: the smallest share still grants one request", async () => {
    const clock = new ManualClock(0);
    const store = new FakeStore(clock);
    store.behaviour = failing;
    const shared = { limit: 3, window: "1s", localShare: Number.MIN_VALUE, by: "user" } as const;
    const limiter = createLimiter({
      clock,
      store,
      onStoreError: () => {},
      policies: {
        fixed: fixedWindow(shared),
        token: tokenBucket({ ...shared, burst: 7 }),
        queue: leakyBucket({ ...shared, queue: 3 }),
      },
    });
    for (const name of ["fixed", "token", "queue"] as const) {
      expect(await limiter.check(name, ann)).toMatchObject({ allowed: true, limit: 1 });
      expect(await limiter.check(name, ann)).toMatchObject({ allowed: false, retryAfterMs: 1_000 });
    }
  });

  it("closed: refused without numbers, to be tried again after a moment", async () => {
    const { limiter, store } = setUp();
    store.behaviour = failing;
    expect(await limiter.check("closed", ann)).toEqual({
      allowed: false,
      reason: "store-failure",
      degraded: "closed",
      outcomes: [],
      shadows: [],
      policy: limiter.policies.closed,
      limit: 7,
      remaining: undefined,
      resetMs: undefined,
      retryAfterMs: 1,
      delayMs: 0,
    });
  });

  it("closed: the wait is that until the next probe", async () => {
    const { limiter, clock, trip } = setUp();
    await trip();
    expect((await limiter.check("closed", ann)).retryAfterMs).toBe(1_000);
    clock.advance(400);
    expect((await limiter.check("closed", ann)).retryAfterMs).toBe(600);
  });

  it("open: admitted without numbers", async () => {
    const { limiter, store } = setUp();
    store.behaviour = failing;
    for (let call = 0; call < 20; call += 1)
      expect(await limiter.check("open", ann)).toEqual({
        allowed: true,
        reason: "admitted",
        degraded: "open",
        outcomes: [],
        shadows: [],
        policy: limiter.policies.open,
        limit: 5,
        remaining: undefined,
        resetMs: undefined,
        retryAfterMs: 0,
        delayMs: 0,
      });
  });

  it("mixed: any closed one refuses, reports the first declared, and nothing is charged", async () => {
    const { limiter, store } = setUp();
    store.behaviour = failing;
    const decision = await limiter.check(["open", "local", "closed2", "closed"], ann);
    expect(decision).toMatchObject({ allowed: false, degraded: "closed", limit: 9 });
    expect((await limiter.peek("local", ann)).remaining).toBe(4);
  });

  it("mixed: else the local ones decide, and the open ones are left out", async () => {
    const { limiter, store } = setUp();
    store.behaviour = failing;
    const decision = await limiter.check(["open", "half", "local"], ann, { cost: { open: 99 } });
    expect(decision).toMatchObject({ allowed: true, degraded: "local", limit: 4 });
    expect(decision.outcomes.map(({ policy }) => policy.name)).toEqual(["half", "local"]);
    await limiter.check("local", ann, { cost: 3 });
    expect((await limiter.check(["open", "half", "local"], ann)).allowed).toBe(false);
    expect((await limiter.peek("half", ann)).remaining).toBe(3);
  });

  it("mixed: all open report the first declared", async () => {
    const { limiter, store } = setUp();
    store.behaviour = failing;
    expect(await limiter.check(["open2", "open"], ann)).toMatchObject({ allowed: true, limit: 6 });
  });
});

describe("a reply that is none", () => {
  const good: Outcome = {
    policy: tokenBucket({ limit: 4, window: "1m", name: "local" }) as Outcome["policy"],
    cost: 1,
    allowed: true,
    limit: 4,
    remaining: 3,
    retryAfterMs: 0,
    nextMs: undefined,
    resetMs: 10,
    banMs: 0,
    delayMs: 0,
    receipt: undefined,
  };

  const replies: readonly unknown[] = [
    undefined,
    null,
    "OK",
    1,
    1n,
    true,
    {},
    Buffer.from("OK"),
    [],
    [good, good],
    [null],
    ["OK"],
    [[1, 3, 0, 10]],
    [{}],
    [{ ...good, policy: undefined }],
    [{ ...good, policy: { name: "half" } }],
    [{ ...good, allowed: 1 }],
    [{ ...good, allowed: undefined }],
    [{ ...good, remaining: Number.NaN }],
    [{ ...good, remaining: -1 }],
    [{ ...good, remaining: "3" }],
    [{ ...good, remaining: 2.5 }],
    [{ ...good, limit: undefined }],
    [{ ...good, retryAfterMs: Number.NaN }],
    [{ ...good, retryAfterMs: -1 }],
    [{ ...good, nextMs: null }],
    [{ ...good, resetMs: Infinity }],
    [{ ...good, resetMs: 10n }],
    [{ ...good, delayMs: undefined }],
    [{ ...good, cost: undefined }],
  ];

  it.each(replies.map((reply) => [inspect(reply), reply]))(
    "%s is a store failure",
    async (_, reply) => {
      const { limiter, store, errors } = setUp();
      store.behaviour = async () => reply;
      expect(await limiter.check("local", ann)).toMatchObject({ remaining: 3, degraded: "local" });
      expect(errors.map(({ code }) => code)).toEqual(["STORE_FAILURE"]);
    },
  );

  it("counts for the breaker", async () => {
    const { limiter, store } = setUp();
    store.behaviour = async () => null;
    for (let call = 0; call < 20; call += 1) await limiter.check("open", ann);
    expect(store.batches).toHaveLength(5);
  });

  const throwing: readonly (readonly [string, Behaviour])[] = [
    [
      "an exception",
      () => {
        throw new Error("boom");
      },
    ],
    ["a rejection with an error", () => Promise.reject(new Error("boom"))],
    ["a rejection with text", () => Promise.reject("boom")],
    ["a rejection with nothing", () => Promise.reject(undefined)],
    ["no promise", () => undefined],
  ];

  it.each(throwing)("%s instead of it is a store failure", async (_, behaviour) => {
    const { limiter, store, errors } = setUp();
    store.behaviour = behaviour;
    expect(await limiter.check("local", ann)).toMatchObject({ allowed: true, degraded: "local" });
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ name: "HeadgateError", code: "STORE_FAILURE" });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("the cause is kept", async () => {
    const { limiter, store, errors } = setUp();
    const cause = new Error("READONLY You can't write against a read only replica.");
    store.behaviour = () => Promise.reject(cause);
    await limiter.check("local", ann);
    expect(errors[0]?.cause).toBe(cause);
    expect(errors[0]?.message).toContain("READONLY");
  });
});
