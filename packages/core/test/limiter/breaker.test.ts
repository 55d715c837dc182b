import { describe, expect, it } from "vitest";
import { HeadgateError } from "../../src/errors.js";
import { Breaker } from "../../src/failsafe/breaker.js";
import { createLimiter } from "../../src/limiter/limiter.js";
import { fixedWindow } from "../../src/policy/builders.js";
import type { Outcome } from "../../src/store/store.js";
import { ManualClock } from "../../src/testing/index.js";
import { FakeStore, failing } from "./fake-store.js";

const identity = { ip: "192.0.2.1" };
const policies = { api: fixedWindow({ limit: 100, window: "1d", onStoreFailure: "open" }) };

function setUp() {
  const clock = new ManualClock(1_700_000_000_000);
  const store = new FakeStore(clock);
  const codes: string[] = [];
  const make = () =>
    createLimiter({ clock, store, policies, onStoreError: ({ code }) => codes.push(code) });
  const limiter = make();
  const calls = async (count: number) => {
    for (let call = 0; call < count; call += 1) await limiter.check("api", identity);
  };
  return { clock, store, codes, limiter, make, calls };
}

describe("the breaker of a store", () => {
  it("opens after 5 failures in a row: the next call does not reach the store", async () => {
    const { store, codes, calls } = setUp();
    store.behaviour = failing;
    await calls(4);
    store.behaviour = store.well;
    await calls(1);
    store.behaviour = failing;
    await calls(4);
    expect(store.batches).toHaveLength(9);
    await calls(1);
    expect(store.batches).toHaveLength(10);
    await calls(10);
    expect(store.batches).toHaveLength(10);
    expect(codes.at(-1)).toBe("STORE_CIRCUIT_OPEN");
  });

  it("hears nothing of refusals that the store recalls, and does not keep them back", async () => {
    const { store, clock, codes, calls, limiter } = setUp();
    const other = { ip: "192.0.2.2" };
    await limiter.check("api", other, { cost: 100 });
    const [refusal] = await store.apply(
      [{ policy: limiter.policies.api, subject: "ip=192.0.2.2", cost: 1 }],
      "commit",
    );
    const recalling = Object.assign(store, {
      recall: ([charge]: readonly { subject: string }[]) =>
        charge?.subject === "ip=192.0.2.2" ? [refusal as Outcome] : undefined,
    });
    const refusedOther = async () => {
      const { allowed, degraded } = await limiter.check("api", other);
      expect({ allowed, degraded }).toEqual({ allowed: false, degraded: "none" });
    };
    recalling.behaviour = failing;
    store.batches.length = 0;
    for (let failures = 0; failures < 10; failures += 1) {
      await calls(1);
      await refusedOther();
    }
    expect(store.batches).toHaveLength(5);
    clock.advance(1_000);
    await refusedOther();
    await calls(2);
    expect(store.batches).toHaveLength(6);
    expect(codes.at(-1)).toBe("STORE_CIRCUIT_OPEN");
  });

  it("blocks for 1 s, then doubles with each failed probe, up to 30 s", async () => {
    const { store, clock, calls } = setUp();
    store.behaviour = failing;
    await calls(5);
    for (const openMs of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      store.batches.length = 0;
      clock.advance(openMs - 1);
      await calls(3);
      expect(store.batches).toHaveLength(0);
      clock.advance(1);
      await calls(3);
      expect(store.batches).toHaveLength(1);
    }
  });

  it("closes when the probe is answered, and starts anew at 1 s", async () => {
    const { store, clock, calls, limiter } = setUp();
    store.behaviour = failing;
    await calls(5);
    clock.advance(1_000);
    await calls(1);
    clock.advance(2_000);
    store.behaviour = store.well;
    expect(await limiter.check("api", identity)).toMatchObject({ degraded: "none", remaining: 99 });
    store.batches.length = 0;
    await calls(10);
    expect(store.batches).toHaveLength(10);
    store.behaviour = failing;
    await calls(5);
    store.batches.length = 0;
    clock.advance(999);
    await calls(1);
    expect(store.batches).toHaveLength(0);
    clock.advance(1);
    await calls(1);
    expect(store.batches).toHaveLength(1);
  });

  it("lets one live call probe while the others are spared", async () => {
    const { store, clock, calls, limiter } = setUp();
    store.behaviour = failing;
    await calls(5);
    clock.advance(1_000);
    store.batches.length = 0;
    let answer = (_: readonly Outcome[]) => {};
    store.behaviour = () => new Promise<readonly Outcome[]>((resolve) => (answer = resolve));
    const probe = limiter.check("api", identity);
    const others = await Promise.all(
      Array.from({ length: 20 }, () => limiter.check("api", identity)),
    );
    expect(others.every(({ degraded }) => degraded === "open")).toBe(true);
    expect(store.batches).toHaveLength(1);
    answer((await store.well(store.batches[0] ?? [], "commit")) as Outcome[]);
    expect((await probe).degraded).toBe("none");
  });

  it("is not moved by calls that were under way when it opened, whatever comes of them", async () => {
    const { store, clock, calls, limiter } = setUp();
    const ends: ((how: "answer" | "fail") => Promise<void>)[] = [];
    store.behaviour = (batch, mode) =>
      new Promise((resolve, reject) => {
        ends.push(async (how) =>
          how === "fail" ? reject(new Error("lost")) : resolve(await store.well(batch, mode)),
        );
      });
    const early = Array.from({ length: 8 }, () => limiter.check("api", identity));
    for (let call = 0; call < 5; call += 1) await ends[call]?.("fail");
    await Promise.all(early.slice(0, 5));
    await ends[5]?.("answer");
    await ends[6]?.("fail");
    await Promise.all(early.slice(5, 7));
    store.batches.length = 0;
    store.behaviour = failing;
    clock.advance(999);
    await calls(2);
    expect(store.batches).toHaveLength(0);
    clock.advance(1);
    await calls(1);
    expect(store.batches).toHaveLength(1);
    await ends[7]?.("answer");
    expect((await early[7])?.degraded).toBe("none");
    await calls(2);
    expect(store.batches).toHaveLength(1);
  });

  it("takes a key at fault for an answer: only its own request suffers", async () => {
    const { store, codes, calls, clock } = setUp();
    store.behaviour = () =>
      Promise.reject(new HeadgateError("STORE_KEY_FAILURE", "store: WRONGTYPE"));
    await calls(20);
    expect(store.batches).toHaveLength(20);
    expect(new Set(codes)).toEqual(new Set(["STORE_KEY_FAILURE"]));
    store.behaviour = failing;
    await calls(5);
    clock.advance(1_000);
    store.behaviour = () =>
      Promise.reject(new HeadgateError("STORE_KEY_FAILURE", "store: WRONGTYPE"));
    store.batches.length = 0;
    await calls(3);
    expect(store.batches).toHaveLength(3);
  });

  it("is one for all limiters of a store, and another for another store", async () => {
    const { store, calls, make } = setUp();
    store.behaviour = failing;
    await calls(5);
    store.batches.length = 0;
    await make().check("api", identity);
    expect(store.batches).toHaveLength(0);
    const other = setUp();
    await other.calls(1);
    expect(other.store.batches).toHaveLength(1);
  });
});

describe("the time until the next probe", () => {
  it("is 0 while calls pass, and at least 1 ms while they do not", () => {
    const clock = new ManualClock(0);
    const breaker = new Breaker(clock);
    expect(breaker.retryInMs).toBe(0);
    for (let call = 0; call < 5; call += 1) breaker.leave(breaker.enter() as "pass", true);
    expect(breaker.retryInMs).toBe(1_000);
    clock.advance(5_000);
    expect(breaker.retryInMs).toBe(1);
    expect(breaker.enter()).toBe("probe");
    expect(breaker.retryInMs).toBe(1);
    expect(breaker.enter()).toBe("blocked");
  });
});
