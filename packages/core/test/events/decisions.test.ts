import { beforeEach, describe, expect, it, vi } from "vitest";
import { observe } from "../../src/events/index.js";
import { createLimiter } from "../../src/limiter/limiter.js";
import "../../src/policies/index.js";
import { fixedWindow, slidingWindow } from "../../src/policy/builders.js";
import type { Outcome } from "../../src/store/store.js";
import { ManualClock } from "../../src/testing/manual-clock.js";
import { FakeStore, failing } from "../limiter/fake-store.js";
import { nowMs, observed } from "./observed.js";

const ada = { user: "ada" };
const perUser = { window: "1m", by: "user" } as const;

describe("a decision event", () => {
  it("tells policy, outcome, reason, cost and the answer of each policy", () => {
    const { limiter, of } = observed({
      read: slidingWindow({ limit: 5, ...perUser }),
      write: slidingWindow({ limit: 2, ...perUser }),
    });
    limiter.check(["read", "write"], ada, { cost: { write: 2 } });
    limiter.check(["read", "write"], ada);
    const told = of("decision").map(({ outcome, policy, reason, degraded, mode, charges }) => ({
      outcome,
      policy,
      reason,
      degraded,
      mode,
      charges: charges.map(({ policy, subject, cost, outcome }) => [
        policy.name,
        subject,
        cost,
        outcome?.allowed,
        outcome?.remaining,
      ]),
    }));
    const fields = { policy: "write", degraded: "none", mode: "commit" };
    expect(told).toEqual([
      {
        ...fields,
        outcome: "allowed",
        reason: "admitted",
        charges: [
          ["read", "user=ada", 1, true, 4],
          ["write", "user=ada", 2, true, 0],
        ],
      },
      {
        ...fields,
        outcome: "denied",
        reason: "limit",
        charges: [
          ["read", "user=ada", 1, true, 4],
          ["write", "user=ada", 1, false, 0],
        ],
      },
    ]);
  });

  it("holds the decision that the caller gets, and the time that it took", () => {
    const { limiter, of } = observed({ api: slidingWindow({ limit: 5, ...perUser }) });
    const decision = limiter.check("api", ada);
    const [event] = of("decision");
    expect(event?.decision).toBe(decision);
    expect(event?.limiter).toBe(limiter);
    expect(event?.latencyMs).toBeGreaterThan(0);
  });

  it("tells a look as a look", () => {
    const { limiter, of } = observed({ api: slidingWindow({ limit: 5, ...perUser }) });
    limiter.peek("api", ada);
    expect(of("decision").map(({ mode }) => mode)).toEqual(["peek"]);
  });

  it("gives a shadow policy's answer to its own charge", () => {
    const { limiter, of } = observed({
      trial: slidingWindow({ limit: 1, ...perUser, shadow: true }),
      api: slidingWindow({ limit: 5, ...perUser }),
    });
    limiter.check(["trial", "api"], ada);
    limiter.check(["trial", "api"], ada);
    const answers = of("decision").map(({ outcome, charges }) => [
      outcome,
      ...charges.map(({ policy, outcome }) => `${policy.name} ${outcome?.allowed}`),
    ]);
    expect(answers).toEqual([
      ["allowed", "trial true", "api true"],
      ["allowed", "trial false", "api true"],
    ]);
  });

  it("tells charges as they were merged, each with its own subject", () => {
    const { limiter, of } = observed({ api: slidingWindow({ limit: 5, ...perUser }) });
    const { api } = limiter.policies as Record<"api", (typeof limiter.policies)[string]>;
    const charge = (subject: string, cost: number) => ({ policy: api, subject, cost });
    limiter.decide([charge("user=a", 1), charge("user=a", 3), charge("user=b", 2)]);
    const [event] = of("decision");
    expect(
      event?.charges.map(({ subject, cost, outcome }) => [subject, cost, outcome?.remaining]),
    ).toEqual([
      ["user=a", 3, 2],
      ["user=b", 2, 3],
    ]);
  });

  it("tells nothing of a call that throws, and lets it throw", () => {
    const { limiter, events } = observed({ api: slidingWindow({ limit: 5, ...perUser }) });
    expect(() => limiter.check("api", {})).toThrow("identity must have");
    expect(() => limiter.decide([])).toThrow("name a charge");
    expect(events).toEqual([]);
  });
});

describe("a decision event of an asynchronous store", () => {
  function storeOn(clock: ManualClock) {
    return new FakeStore(clock);
  }

  it("tells by which failure mode a failing store was answered, and its error", async () => {
    const clock = new ManualClock(nowMs);
    const store = storeOn(clock);
    store.behaviour = failing;
    const { limiter, of } = observed(
      {
        local: fixedWindow({ limit: 5, ...perUser }),
        open: fixedWindow({ limit: 5, ...perUser, onStoreFailure: "open" }),
        closed: fixedWindow({ limit: 5, ...perUser, onStoreFailure: "closed" }),
      },
      { store, clock },
    );
    for (const name of ["local", "open", "closed"]) await limiter.check(name, ada);
    await limiter.check(["open", "local"], ada);
    const told = of("decision").map((event) => [
      event.policy,
      event.outcome,
      event.reason,
      event.degraded,
      event.storeError?.code,
      event.charges.map(({ outcome }) => outcome?.remaining),
    ]);
    expect(told).toEqual([
      ["local", "allowed", "admitted", "local", "STORE_FAILURE", [4]],
      ["open", "allowed", "admitted", "open", "STORE_FAILURE", [undefined]],
      ["closed", "denied", "store-failure", "closed", "STORE_FAILURE", [undefined]],
      ["local", "allowed", "admitted", "local", "STORE_FAILURE", [undefined, 3]],
    ]);
  });

  it("tells whether the store refused from memory", async () => {
    const clock = new ManualClock(nowMs);
    const store = storeOn(clock);
    const { limiter, of } = observed(
      { api: fixedWindow({ limit: 1, ...perUser }) },
      { store, clock },
    );
    await limiter.check("api", ada, { cost: 1 });
    await limiter.check("api", ada);
    const known = of("decision").at(-1)?.decision.outcomes as readonly Outcome[];
    Object.assign(store, { recall: () => known });
    await limiter.check("api", ada);
    await limiter.peek("api", ada);
    expect(of("decision").map(({ outcome, remembered }) => [outcome, remembered])).toEqual([
      ["allowed", false],
      ["denied", false],
      ["denied", true],
      ["denied", false],
    ]);
    expect(of("storeCall")).toHaveLength(3);
  });
});

describe("observing", () => {
  beforeEach(() => {
    delete (globalThis as { [key: symbol]: unknown })[Symbol.for("headgate.warned")];
  });

  it("leaves a limiter as it was once the last listener has stopped", () => {
    const limiter = createLimiter({ policies: { api: slidingWindow({ limit: 5, ...perUser }) } });
    const { decide } = limiter;
    const stops = [observe(limiter, () => {}), observe(limiter, () => {})];
    expect(limiter.decide).not.toBe(decide);
    stops[0]?.();
    stops[0]?.();
    expect(limiter.decide).not.toBe(decide);
    stops[1]?.();
    expect(limiter.decide).toBe(decide);
    expect(Object.hasOwn(limiter, "decide")).toBe(false);
  });

  it("gives back what had taken the place of decide before", () => {
    const limiter = createLimiter({ policies: { api: slidingWindow({ limit: 5, ...perUser }) } });
    const { decide } = limiter;
    const own: typeof decide = (charges, options) => decide.call(limiter, charges, options);
    limiter.decide = own;
    observe(limiter, () => {})();
    expect(limiter.decide).toBe(own);
  });

  it("leaves alone what somebody else has put around it, and tells nothing any more", () => {
    const { limiter, events, stop } = observed({ api: slidingWindow({ limit: 5, ...perUser }) });
    const { decide } = limiter;
    limiter.decide = (charges, options) => decide(charges, options);
    const { decide: outer } = limiter;
    stop();
    expect(limiter.decide).toBe(outer);
    expect(limiter.check("api", ada)).toMatchObject({ allowed: true });
    expect(events).toEqual([]);
  });

  it("tells each listener only of what it asked for, until it stops", () => {
    const limiter = createLimiter({ policies: { api: slidingWindow({ limit: 1, ...perUser }) } });
    const first: string[] = [];
    const second: string[] = [];
    const stop = observe(limiter, { firstRefusal: ({ type }) => first.push(type) });
    observe(limiter, { decision: ({ type }) => second.push(type) });
    limiter.check("api", ada);
    limiter.check("api", ada);
    stop();
    limiter.check("api", { user: "grace" });
    limiter.check("api", { user: "grace" });
    expect(first).toEqual(["firstRefusal"]);
    expect(second).toEqual(["decision", "decision", "decision", "decision"]);
  });

  it("lets neither a listener that throws nor one that leaves a rejected promise change anything", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const limiter = createLimiter({ policies: { api: slidingWindow({ limit: 1, ...perUser }) } });
    const heard: string[] = [];
    observe(limiter, () => {
      throw new Error("of the listener");
    });
    observe(limiter, async () => {
      throw new Error("of the promise");
    });
    observe(limiter, { decision: ({ outcome }) => heard.push(outcome) });
    expect(limiter.check("api", ada).allowed).toBe(true);
    expect(limiter.check("api", ada).allowed).toBe(false);
    await new Promise((resolve) => setImmediate(resolve));
    expect(heard).toEqual(["allowed", "denied"]);
    expect(warn.mock.calls).toEqual([
      ["observe threw: of the listener", expect.objectContaining({ code: "HEADGATE_LISTENER" })],
    ]);
    warn.mockRestore();
  });

  it("refuses listeners that are none", () => {
    const limiter = createLimiter({ policies: { api: slidingWindow({ limit: 1, ...perUser }) } });
    const wrong = (listeners: unknown) => () => observe(limiter, listeners as () => void);
    expect(wrong({ decisions: () => {} })).toThrow("observe: decisions is not an option");
    expect(wrong({ decision: 1 })).toThrow("observe: decision must be a function, got 1");
    expect(wrong(null)).toThrow("observe: options must be an object, got null");
    expect(Object.hasOwn(limiter, "decide")).toBe(false);
  });
});
