import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { createLimiter } from "../../src/limiter/limiter.js";
import { fixedWindow } from "../../src/policy/builders.js";
import { memoryStore } from "../../src/store/memory/memory-store.js";
import { ManualClock } from "../../src/testing/index.js";
import { algorithmNames, call, policyOf } from "./keys.js";

const longWindowMs = 40 * 86_400_000;

describe.each(algorithmNames)("%s", (algorithm) => {
  it("keeps a window longer than a timer can last", () => {
    const clock = new ManualClock(longWindowMs * 400);
    const store = memoryStore({ clock });
    const policy = policyOf(algorithm, { limit: 1, windowMs: longWindowMs });
    expect(call(store, policy, { subject: "a" }).allowed).toBe(true);
    const { retryAfterMs } = call(store, policy, { subject: "a" });
    expect(retryAfterMs).toBeGreaterThan(2 ** 31);
    clock.advance(2 ** 31);
    expect(call(store, policy, { subject: "a" }).allowed).toBe(false);
    clock.advance(retryAfterMs - 2 ** 31 - 1);
    expect(call(store, policy, { subject: "a" }).allowed).toBe(false);
    clock.advance(1);
    expect(call(store, policy, { subject: "a" }).allowed).toBe(true);
  });

  it("never mixes keys up, however they come, go and take each other's places", () => {
    const step = fc.record({
      key: fc.nat({ max: 7 }),
      cost: fc.nat({ max: 3 }),
      action: fc.constantFrom("commit", "commit", "commit", "peek", "reset"),
      advance: fc.constantFrom(0, 0, 0, 7, 60, 130),
    });
    const policy = policyOf(algorithm, { limit: 3, windowMs: 100 });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const clock = new ManualClock(1_000);
        const together = memoryStore({ clock });
        const alone = Array.from({ length: 8 }, () => memoryStore({ clock }));
        for (const { key, cost, action, advance } of steps) {
          clock.advance(advance);
          const own = alone[key] as ReturnType<typeof memoryStore>;
          const subject = `key=${key}`;
          if (action === "reset") {
            for (const store of [together, own]) store.reset(policy, subject);
            continue;
          }
          const ask = { subject, cost, mode: action as "commit" };
          expect(call(together, policy, ask)).toEqual(call(own, policy, ask));
        }
      }),
      { numRuns: 300 },
    );
  });

  it("hands out numbers that never change afterwards", () => {
    const store = memoryStore({ clock: new ManualClock(0) });
    const policy = policyOf(algorithm, { limit: 5 });
    const outcomes = Array.from({ length: 10 }, () => call(store, policy, { subject: "a" }));
    expect(outcomes.map(({ remaining }) => remaining)).toEqual([4, 3, 2, 1, 0, 0, 0, 0, 0, 0]);
  });
});

describe("ids", () => {
  const ids = [
    ...Object.getOwnPropertyNames(Object.prototype),
    "\u200b",
    "\u200b\u200b",
    "\u2060",
    "\0",
    "a".repeat(10_240),
    `${"a".repeat(10_239)}b`,
    "é".repeat(10_240),
    "*",
    "{}",
    "a b",
    "a\nb",
    "\ud800",
    "\udc00",
  ];

  it("of any characters and length are ordinary ids, to the limiter and to the store", () => {
    const clock = new ManualClock(0);
    const limiter = createLimiter({
      clock,
      policies: { api: fixedWindow({ limit: 2, window: "1m", by: "user" }) },
    });
    const store = memoryStore({ clock });
    const policy = policyOf("fixed-window");
    for (const remaining of [1, 0]) {
      for (const user of ids) {
        expect(limiter.check("api", { user }).remaining).toBe(remaining);
        expect(call(store, policy, { subject: user }).remaining).toBe(remaining);
      }
    }
    for (const user of ids) expect(limiter.check("api", { user }).allowed).toBe(false);
    expect(store.size).toBe(ids.length);
  });

  it("of two policies are two keys", () => {
    const store = memoryStore();
    call(store, policyOf("fixed-window", { name: "a" }), { subject: "x" });
    expect(call(store, policyOf("fixed-window", { name: "b" }), { subject: "x" }).remaining).toBe(
      1,
    );
    expect(store.size).toBe(2);
  });
});

describe("a batch", () => {
  const clock = new ManualClock(0);
  const first = policyOf("fixed-window", { name: "first" });
  const second = policyOf("token-bucket", { name: "second", limit: 1 });

  it("is charged as a whole or not at all", () => {
    const store = memoryStore({ clock });
    const batch = [first, second].map((policy) => ({ policy, subject: "a", cost: 1 }));
    expect(store.apply(batch, "commit").map(({ allowed }) => allowed)).toEqual([true, true]);
    expect(store.apply(batch, "commit")).toMatchObject([
      { allowed: true, remaining: 1, receipt: undefined },
      { allowed: false, remaining: 0, receipt: undefined },
    ]);
    expect(call(store, first, { subject: "a", mode: "peek" }).remaining).toBe(1);
  });

  it("that names one policy and subject twice is an error", () => {
    const store = memoryStore({ clock });
    const charge = { policy: first, subject: "a", cost: 1 };
    expect(() => store.apply([charge, { ...charge, subject: "b" }, charge], "commit")).toThrow(
      'policy "first": the batch names one subject twice',
    );
    expect(store.size).toBe(0);
  });

  it("of no charges has no outcomes", () => {
    expect(memoryStore({ clock }).apply([], "commit")).toEqual([]);
  });
});

describe("a clock", () => {
  it.each([
    [Number.NaN, "NaN"],
    [-1, "-1"],
    [-0.5, "-0.5"],
    [Infinity, "Infinity"],
    [-Infinity, "-Infinity"],
    [2 ** 53, "9007199254740992"],
    ["5", '"5"'],
    [undefined, "undefined"],
    [null, "null"],
    [5n, "5n"],
    [new Date(0), "an object"],
  ])("that says %s is an error, and leaves every key as it was", (reading, shown) => {
    let now: unknown = 1_000;
    const store = memoryStore({ clock: { now: () => now as number } });
    const policy = policyOf("token-bucket");
    call(store, policy, { subject: "a" });
    now = reading;
    expect(() => call(store, policy, { subject: "a" })).toThrow(
      `clock: now() must be from 0 to 2^53 - 1 ms, got ${shown}`,
    );
    now = 1_000;
    expect(call(store, policy, { subject: "a" })).toMatchObject({ allowed: true, remaining: 0 });
  });

  it("is floored to whole milliseconds", () => {
    let now = 999.9;
    const store = memoryStore({ clock: { now: () => now } });
    const policy = policyOf("sliding-window", { limit: 1, windowMs: 10 });
    call(store, policy, { subject: "a" });
    now = 1_008.999;
    expect(call(store, policy, { subject: "a" })).toMatchObject({
      allowed: false,
      retryAfterMs: 1,
    });
    now = 1_009;
    expect(call(store, policy, { subject: "a" }).allowed).toBe(true);
  });

  test.each(algorithmNames)("that steps back grants %s nothing extra", (algorithm) => {
    let now = 1_000_000;
    const store = memoryStore({ clock: { now: () => now } });
    const policy = policyOf(algorithm, { windowMs: 1_000 });
    call(store, policy, { subject: "a", cost: 2 });
    const { retryAfterMs } = call(store, policy, { subject: "a" });
    now -= 300;
    const early = call(store, policy, { subject: "a" });
    expect(early).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: retryAfterMs + 300 });
    now += early.retryAfterMs - 1;
    expect(call(store, policy, { subject: "a" }).allowed).toBe(false);
    now += 1;
    expect(call(store, policy, { subject: "a" }).allowed).toBe(true);
  });
});
