import { describe, expect, it, vi } from "vitest";
import { refund } from "../../src/policies/index.js";
import { fixedWindow } from "../../src/policy/builders.js";
import { ManualClock } from "../../src/testing/manual-clock.js";
import { FakeStore, failing } from "../limiter/fake-store.js";
import { nowMs, observed } from "./observed.js";

const ada = { user: "ada" };
const api = fixedWindow({ limit: 100, window: "1d", by: "user", onStoreFailure: "open" });

function setUp() {
  const clock = new ManualClock(nowMs);
  const store = new FakeStore(clock);
  const watched = observed({ api }, { store, clock });
  const calls = async (count: number) => {
    for (let call = 0; call < count; call += 1) await watched.limiter.check("api", ada);
  };
  return { ...watched, clock, store, calls };
}

describe("the breaker", () => {
  it("is told when it opens, tries the store, and closes", async () => {
    const { clock, store, calls, of, limiter } = setUp();
    const states = () => of("breaker").map(({ state }) => state);
    expect(limiter.safe?.breaker).toBe("closed");
    store.behaviour = failing;
    await calls(4);
    expect(states()).toEqual([]);
    await calls(3);
    expect(states()).toEqual(["open"]);
    expect(limiter.safe?.breaker).toBe("open");
    clock.advance(1_000);
    await calls(1);
    expect(states()).toEqual(["open", "half-open", "open"]);
    clock.advance(2_000);
    store.behaviour = store.well;
    await calls(3);
    expect(states()).toEqual(["open", "half-open", "open", "half-open", "closed"]);
    expect(limiter.safe?.breaker).toBe("closed");
  });

  it("is told to the observers of every limiter on the store", async () => {
    const { clock, store, calls } = setUp();
    const other = observed({ other: api }, { store, clock });
    store.behaviour = failing;
    await calls(5);
    expect(other.events.map(({ type }) => type)).toEqual(["breaker"]);
  });

  it("is heard of no more once the observer has stopped", async () => {
    const { store, calls, events, stop } = setUp();
    stop();
    store.behaviour = failing;
    await calls(6);
    expect(events).toEqual([]);
  });
});

describe("a store error", () => {
  it("is told with the decision that was made instead, also while the breaker is open", async () => {
    const { store, calls, of } = setUp();
    store.behaviour = failing;
    await calls(6);
    const told = of("storeError").map(({ error, decision }) => [error.code, decision?.degraded]);
    expect(told).toEqual([
      ...Array(5).fill(["STORE_FAILURE", "open"]),
      ["STORE_CIRCUIT_OPEN", "open"],
    ]);
    expect(of("decision").map(({ decision }) => decision)).toEqual(
      of("storeError").map(({ decision }) => decision),
    );
  });

  it("of a refund is told without a decision, and rejects", async () => {
    const { store, limiter, of } = setUp();
    const decision = await limiter.check("api", ada);
    vi.spyOn(store, "refund").mockRejectedValue(new Error("connection lost"));
    await expect(refund(limiter, decision)).rejects.toThrow("connection lost");
    expect(of("storeError").map(({ error, decision }) => [error.code, decision])).toEqual([
      ["STORE_FAILURE", undefined],
    ]);
  });
});

describe("a call to the store", () => {
  it("is told with how long it took and how it failed", async () => {
    const { store, calls, of } = setUp();
    await calls(1);
    store.behaviour = failing;
    await calls(1);
    expect(of("storeCall").map(({ error }) => error?.code)).toEqual([undefined, "STORE_FAILURE"]);
    for (const { latencyMs } of of("storeCall")) expect(latencyMs).toBeGreaterThan(0);
  });

  it("is not told while the breaker is open", async () => {
    const { store, calls, of } = setUp();
    store.behaviour = failing;
    await calls(20);
    expect(of("storeCall")).toHaveLength(5);
  });

  it("of a store in this process is each decision", () => {
    const { limiter, of } = observed({ api });
    limiter.check("api", ada);
    limiter.peek("api", ada);
    expect(of("storeCall")).toHaveLength(2);
  });
});
