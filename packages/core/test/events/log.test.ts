import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type LogOptions, logDecisions } from "../../src/events/index.js";
import { createLimiter, type Limiter } from "../../src/limiter/limiter.js";
import "../../src/policies/index.js";
import { fixedWindow, slidingWindow } from "../../src/policy/builders.js";
import type { PolicyDefinition } from "../../src/policy/policy.js";
import type { AsyncStore } from "../../src/store/store.js";
import { ManualClock } from "../../src/testing/manual-clock.js";
import { FakeStore, failing } from "../limiter/fake-store.js";
import { nowMs } from "./observed.js";

const ada = { user: "ada" };
const perMinute = { window: "1m", by: "user" } as const;

type Written = Readonly<Record<string, unknown>>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** A limiter whose lines a real pino writes, read back from its JSON. */
function logged(
  policies: Readonly<Record<string, PolicyDefinition>>,
  { store, ...options }: LogOptions & { store?: AsyncStore } = {},
) {
  const clock = new ManualClock(nowMs);
  const lines: Written[] = [];
  const logger = pino(
    { base: null, timestamp: false },
    { write: (text) => lines.push(JSON.parse(text)) },
  );
  const limiter = createLimiter({
    policies,
    clock,
    onStoreError: () => {},
    ...(store && { store }),
  }) as unknown as Limiter;
  const stop = logDecisions(limiter, logger, options);
  return { clock, limiter, lines, stop };
}

describe("the line of a refusal", () => {
  it("explains it, with the identity hashed", () => {
    const { limiter, lines } = logged({ api: slidingWindow({ limit: 2, ...perMinute }) });
    limiter.check("api", ada, { cost: 2 });
    limiter.check("api", ada);
    expect(lines).toEqual([
      {
        level: 30,
        event: "refusal",
        policy: "api",
        reason: "limit",
        degraded: "none",
        subject: expect.stringMatching(/^user=#[0-9a-f]{32}$/),
        cost: 1,
        algorithm: "sliding-window",
        limit: 2,
        windowMs: 60_000,
        allowed: false,
        capacity: 2,
        remaining: 0,
        retryAfterMs: 60_000,
        resetMs: 60_000,
        remembered: false,
        latencyMs: expect.any(Number),
        msg: 'refused by policy "api": 0 of 2 left for a cost of 1, possible in 60000 ms',
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain("ada");
  });

  it("tells what every policy of the request answered", () => {
    const { limiter, lines } = logged({
      read: slidingWindow({ limit: 9, ...perMinute }),
      write: slidingWindow({ limit: 1, ...perMinute }),
    });
    limiter.check(["read", "write"], ada);
    limiter.check(["read", "write"], ada);
    expect(lines).toMatchObject([
      {
        policy: "write",
        charges: [
          { policy: "read", allowed: true, remaining: 8 },
          { policy: "write", allowed: false, remaining: 0 },
        ],
      },
    ]);
  });

  it("says that a cost can never fit, without a wait", () => {
    const { limiter, lines } = logged({ api: slidingWindow({ limit: 2, ...perMinute }) });
    limiter.check("api", ada, { cost: 3 });
    expect(lines[0]).toMatchObject({
      reason: "never",
      msg: 'refused by policy "api": a cost of 3 is above its capacity of 2',
    });
    expect(lines[0]).not.toHaveProperty("retryAfterMs");
  });

  it("says that the store failed and the policy fails closed", async () => {
    const store = new FakeStore(new ManualClock(nowMs));
    store.behaviour = failing;
    const { limiter, lines } = logged(
      { api: fixedWindow({ limit: 2, ...perMinute, onStoreFailure: "closed" }) },
      { store },
    );
    await limiter.check("api", ada);
    expect(lines).toMatchObject([
      { level: 40, event: "storeError", code: "STORE_FAILURE", policy: "api", degraded: "closed" },
      {
        level: 30,
        event: "refusal",
        reason: "store-failure",
        degraded: "closed",
        code: "STORE_FAILURE",
        msg: 'refused by policy "api": the store failed',
      },
    ]);
  });

  it("is written for a shadow policy as what would have been", () => {
    const { limiter, lines } = logged({
      trial: slidingWindow({ limit: 1, ...perMinute, shadow: true }),
    });
    limiter.check("trial", ada);
    limiter.check("trial", ada);
    expect(lines).toMatchObject([
      {
        level: 30,
        event: "shadowRefusal",
        msg: 'shadow policy "trial" would have refused: 0 of 1 left for a cost of 1, possible in 60000 ms',
      },
    ]);
  });

  it("is not written for a look", () => {
    const { limiter, lines } = logged({ api: slidingWindow({ limit: 1, ...perMinute }) });
    limiter.peek("api", ada, { cost: 2 });
    expect(lines).toEqual([]);
  });
});

describe("identities in lines", () => {
  const refusedAs = (identity: Readonly<Record<string, string>>, options: LogOptions) => {
    const by = Object.keys(identity);
    const { limiter, lines } = logged(
      { api: slidingWindow({ limit: 1, window: "1m", by }) },
      options,
    );
    limiter.check("api", identity, { cost: 2 });
    return lines[0]?.subject;
  };

  it("are the same for the same identity, and another for another", () => {
    const hashed = refusedAs({ user: "ada" }, {});
    expect(refusedAs({ user: "ada" }, {})).toBe(hashed);
    expect(refusedAs({ user: "grace" }, {})).not.toBe(hashed);
  });

  it("keep the kinds of their parts readable", () => {
    expect(refusedAs({ user: "ada", ip: "192.0.2.1" }, {})).toMatch(
      /^user=#[0-9a-f]{32}&ip=#[0-9a-f]{32}$/,
    );
  });

  it("are plain, or what a function makes of them, where that is wanted", () => {
    expect(refusedAs({ user: "ada" }, { identities: "plain" })).toBe("user=ada");
    expect(refusedAs({ user: "ada" }, { identities: (subject) => `<${subject.length}>` })).toBe(
      "<8>",
    );
  });
});

describe("lines of one cause", () => {
  it("are one in a second, which tells how many there were", () => {
    const { limiter, lines } = logged({ api: slidingWindow({ limit: 1, ...perMinute }) });
    const refuse = (count: number) => {
      for (let call = 0; call < count; call += 1) limiter.check("api", ada, { cost: 2 });
    };
    const suppressed = () => lines.map((line) => line.suppressed);
    refuse(100);
    expect(suppressed()).toEqual([undefined]);
    vi.advanceTimersByTime(999);
    expect(suppressed()).toEqual([undefined]);
    vi.advanceTimersByTime(1);
    expect(suppressed()).toEqual([undefined, 98]);
    refuse(2);
    vi.advanceTimersByTime(1_000);
    expect(suppressed()).toEqual([undefined, 98, 1]);
    vi.advanceTimersByTime(1_000);
    refuse(1);
    expect(suppressed()).toEqual([undefined, 98, 1, undefined]);
    expect(lines.length + 98 + 1).toBe(103);
  });

  it("do not hold back those of another", () => {
    const { limiter, lines } = logged({
      one: slidingWindow({ limit: 1, ...perMinute }),
      two: slidingWindow({ limit: 1, ...perMinute }),
    });
    for (const name of ["one", "two", "one", "two"]) limiter.check(name, ada, { cost: 2 });
    limiter.check("one", ada);
    limiter.check("one", ada);
    expect(lines.map(({ policy, reason }) => [policy, reason])).toEqual([
      ["one", "never"],
      ["two", "never"],
      ["one", "limit"],
    ]);
  });

  it("that are held back are written at the end", () => {
    const { limiter, lines, stop } = logged({ api: slidingWindow({ limit: 1, ...perMinute }) });
    for (let call = 0; call < 3; call += 1) limiter.check("api", ada, { cost: 2 });
    stop();
    limiter.check("api", ada, { cost: 2 });
    vi.advanceTimersByTime(10_000);
    expect(lines.map((line) => line.suppressed)).toEqual([undefined, 1]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("other lines", () => {
  it("tell bans, store errors and the breaker, as warnings", async () => {
    const store = new FakeStore(new ManualClock(nowMs));
    const { limiter, lines } = logged({ api: fixedWindow({ limit: 2, ...perMinute }) }, { store });
    store.behaviour = failing;
    for (let call = 0; call < 6; call += 1) await limiter.check("api", { user: `${call}` });
    const penalty = { on: "refusals", after: 1, within: "1m", ban: "5m" } as const;
    const login = logged({ login: slidingWindow({ limit: 1, ...perMinute, penalty }) });
    login.limiter.check("login", ada);
    login.limiter.check("login", ada);
    expect([...lines, ...login.lines].map(({ level, msg }) => [level, msg])).toEqual([
      [40, "store: connection lost"],
      [40, "store breaker: open"],
      [40, "store: not asked while it recovers from 5 failures in a row"],
      [30, 'refused by policy "login": banned for another 300000 ms'],
      [40, 'banned by policy "login" for 300000 ms'],
    ]);
  });

  it("change nothing when the logger throws", () => {
    vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const fail = () => {
      throw new Error("disk full");
    };
    const limiter = createLimiter({ policies: { api: slidingWindow({ limit: 1, ...perMinute }) } });
    logDecisions(limiter, { info: fail, warn: fail });
    for (let call = 0; call < 3; call += 1)
      expect(limiter.check("api", ada).allowed).toBe(call === 0);
    expect(() => vi.advanceTimersByTime(1_000)).not.toThrow();
  });

  it("need a logger and options that are known", () => {
    const limiter = createLimiter({ policies: { api: slidingWindow({ limit: 1, ...perMinute }) } });
    const log = (logger: unknown, options?: unknown) => () =>
      logDecisions(limiter, logger as never, options as never);
    expect(log({ info: () => {} })).toThrow("logger must have methods info and warn");
    expect(log(console, { identities: "none" })).toThrow(
      'identities must be "hashed", "plain" or a function, got "none"',
    );
    expect(log(console, { salt: "x" })).toThrow("logDecisions: salt is not an option");
  });
});
