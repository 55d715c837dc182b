import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { AnyAlgorithm } from "../../src/algorithms/index.js";
import { algorithms } from "../../src/algorithms/index.js";
import { memoryStore, memoryStoreOver } from "../../src/store/memory/memory-store.js";
import { ManualClock } from "../../src/testing/index.js";
import { algorithmNames, call, policyOf } from "./keys.js";

afterEach(() => {
  vi.restoreAllMocks();
});

describe("the hard cap", () => {
  it("holds after every call, whatever is asked", () => {
    const policies = algorithmNames.map((name) => policyOf(name, { name, windowMs: 50 }));
    const step = fc.record({
      batch: fc.uniqueArray(fc.nat({ max: policies.length - 2 }), { minLength: 1 }),
      subject: fc.nat({ max: 40 }).map((id) => `user=${id}`),
      cost: fc.nat({ max: 3 }),
      mode: fc.constantFrom("commit", "commit", "commit", "peek"),
      advance: fc.constantFrom(0, 0, 1, 20, 60),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.array(step), (maxKeys, steps) => {
        const clock = new ManualClock(1_000);
        const store = memoryStore({ clock, maxKeys });
        for (const { batch, subject, cost, mode, advance } of steps) {
          clock.advance(advance);
          const charges = batch.map((at) => ({ policy: policies[at] as never, subject, cost }));
          store.apply(charges, mode as "commit" | "peek");
          expect(store.size).toBeLessThanOrEqual(maxKeys);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("of one key still counts that key", () => {
    const store = memoryStore({ clock: new ManualClock(0), maxKeys: 1 });
    const policy = policyOf("sliding-window");
    expect(call(store, policy, { subject: "a" }).remaining).toBe(1);
    expect(call(store, policy, { subject: "a" }).remaining).toBe(0);
    expect(call(store, policy, { subject: "a" }).allowed).toBe(false);
    expect(call(store, policy, { subject: "b" }).remaining).toBe(1);
    expect(store.size).toBe(1);
  });

  it.each([0, -1, 1.5, Number.NaN, Infinity, 16_000_001, "5", null])(
    "of %s is an error",
    (maxKeys) => {
      expect(() => memoryStore({ maxKeys: maxKeys as number })).toThrow(
        "memoryStore: maxKeys must be an integer from 1 to 16000000, got ",
      );
    },
  );

  it("an unknown option, or a clock that is none, is an error", () => {
    expect(() => memoryStore({ maxkeys: 5 } as never)).toThrow(
      "memoryStore: maxkeys is not an option (known: clock, maxKeys), got 5",
    );
    expect(() => memoryStore({ clock: Date.now as never })).toThrow(
      "memoryStore: clock must be an object with a method now(), got a function",
    );
    expect(() => memoryStore(null as never)).toThrow("memoryStore: options must be an object");
  });
});

describe("eviction", () => {
  const maxKeys = 100_000;
  const refused = Array.from({ length: maxKeys / 2 }, (_, id) => ({ subject: `r${id}`, cost: 2 }));
  const others = Array.from({ length: maxKeys / 2 }, (_, id) => ({ subject: `o${id}`, cost: 1 }));
  const orders = {
    interleaved: refused.flatMap((key, at) => [key, others[at] as typeof key]),
    "refused first": [...refused, ...others],
    "refused last": [...others, ...refused],
  };

  describe.each(Object.entries(orders))("of a full store, filled %s", (_, keys) => {
    it.each(["fixed-window", "token-bucket"] as const)(
      "%s: 100,000 strangers free fewer than 0.1 % of the refused keys",
      (algorithm) => {
        const store = memoryStore({ clock: new ManualClock(1_700_000_000_000), maxKeys });
        const policy = policyOf(algorithm);
        for (const key of keys) call(store, policy, key);
        for (let id = 0; id < 100_000; id += 1) call(store, policy, { subject: `s${id}` });
        expect(store.size).toBe(maxKeys);
        const freed = refused.filter(
          ({ subject }) => call(store, policy, { subject, mode: "peek" }).allowed,
        );
        expect(freed.length).toBeLessThan(refused.length / 1_000);
      },
    );
  });

  /** Fills a store whose evictions look at every key. */
  function fullStore(keys: readonly (readonly [subject: string, cost: number, at: number])[]) {
    const clock = new ManualClock(0);
    const store = memoryStore({ clock, maxKeys: keys.length });
    const policy = policyOf("sliding-window", { limit: 4, windowMs: 1_000 });
    for (const [subject, cost, at] of keys) {
      clock.set(at);
      call(store, policy, { subject, cost });
    }
    let pick = 0;
    vi.spyOn(Math, "random").mockImplementation(() => (pick++ % 16) / 16);
    return {
      clock,
      store,
      admit: (subject: string) => call(store, policy, { subject }),
      held: () =>
        keys
          .map(([subject]) => subject)
          .filter((subject) => call(store, policy, { subject, mode: "peek" }).remaining < 4),
    };
  }

  it("takes an expired key before any other", () => {
    const { clock, store, admit, held } = fullStore([
      ["expired", 4, 0],
      ["least-used", 1, 500],
      ["refused", 4, 500],
    ]);
    clock.set(1_000);
    admit("stranger");
    expect(store.size).toBe(3);
    expect(held()).toEqual(["least-used", "refused"]);
  });

  it("then the one with the most of its allowance left", () => {
    const { admit, held } = fullStore([
      ["three-used", 3, 0],
      ["one-used", 1, 0],
      ["refused", 4, 0],
    ]);
    admit("stranger");
    expect(held()).toEqual(["three-used", "refused"]);
  });

  it("and of refused keys alone the one that would be free soonest", () => {
    const { admit, held } = fullStore([
      ["soonest", 4, 0],
      ["later", 4, 100],
      ["latest", 4, 200],
    ]);
    admit("stranger");
    expect(held()).toEqual(["later", "latest"]);
  });

  it("compares what is left as a share, across policies", () => {
    const store = memoryStore({ clock: new ManualClock(0), maxKeys: 2 });
    const large = policyOf("fixed-window", { name: "large", limit: 100 });
    const small = policyOf("fixed-window", { name: "small", limit: 2 });
    call(store, large, { subject: "a", cost: 90 });
    call(store, small, { subject: "a", cost: 1 });
    let pick = 0;
    vi.spyOn(Math, "random").mockImplementation(() => (pick++ % 2) / 2);
    call(store, large, { subject: "b" });
    expect(call(store, large, { subject: "a", mode: "peek" }).remaining).toBe(10);
    expect(call(store, small, { subject: "a", mode: "peek" }).remaining).toBe(2);
  });
});

describe("expired keys", () => {
  it.each(algorithmNames)("of %s are swept away by later calls, without a timer", (algorithm) => {
    const timers = vi.spyOn(globalThis, "setTimeout");
    const intervals = vi.spyOn(globalThis, "setInterval");
    const clock = new ManualClock(1_000_000);
    const store = memoryStore({ clock });
    const policy = policyOf(algorithm, { windowMs: 1_000 });
    for (let id = 0; id < 5_000; id += 1) call(store, policy, { subject: `s${id}` });
    expect(store.size).toBe(5_000);
    clock.advance(2_000);
    for (let calls = 0; calls < 20_500; calls += 1) call(store, policy, { subject: "steady" });
    expect(store.size).toBe(1);
    expect(timers).not.toHaveBeenCalled();
    expect(intervals).not.toHaveBeenCalled();
  });

  it("do not pile up, however many policies each stranger meets", () => {
    const clock = new ManualClock(1_000_000);
    const store = memoryStore({ clock });
    const policies = [0, 1, 2, 3, 4, 5].map((at) =>
      policyOf("token-bucket", { name: `p${at}`, windowMs: 100 }),
    );
    let most = 0;
    for (let id = 0; id < 20_000; id += 1) {
      clock.advance(1);
      store.apply(
        policies.map((policy) => ({ policy, subject: `s${id}`, cost: 1 })),
        "commit",
      );
      if (id > 10_000) most = Math.max(most, store.size);
    }
    // 6 policies, 50 ms until a bucket is full again: 300 keys are alive at any time.
    expect(most).toBeLessThan(3 * 300);
  });

  it("cost a call the same few looks, however many there are", () => {
    let looks = 0;
    const counting: AnyAlgorithm = {
      ...algorithms["fixed-window"],
      expiresAt: (policy, state) => {
        looks += 1;
        return algorithms["fixed-window"].expiresAt(policy, state);
      },
    };
    const clock = new ManualClock(0);
    const store = memoryStoreOver(
      { ...algorithms, "fixed-window": counting },
      { clock, maxKeys: 10_000 },
    );
    const policy = policyOf("fixed-window", { windowMs: 1_000 });
    const looksOf = (subject: string) => {
      looks = 0;
      call(store, policy, { subject });
      return looks;
    };
    for (let id = 0; id < 10_000; id += 1) expect(looksOf(`a${id}`)).toBeLessThanOrEqual(4);
    // Four for the sweep and sixteen for the eviction that makes room.
    for (let id = 0; id < 1_000; id += 1) expect(looksOf(`b${id}`)).toBeLessThanOrEqual(20);
    clock.advance(1_000);
    for (let id = 0; id < 10_000; id += 1) expect(looksOf(`c${id}`)).toBeLessThanOrEqual(20);
  });

  it("are gone from the answer at once, swept or not", () => {
    const clock = new ManualClock(0);
    const store = memoryStore({ clock });
    const policy = policyOf("fixed-window");
    for (let id = 0; id < 100; id += 1) call(store, policy, { subject: `s${id}`, cost: 2 });
    clock.set(60_000);
    expect(call(store, policy, { subject: "s99", mode: "peek" })).toMatchObject({
      allowed: true,
      remaining: 2,
      resetMs: 0,
    });
    expect(store.size).toBe(100);
  });
});
