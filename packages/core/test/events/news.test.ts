import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Remembered } from "../../src/events/remembered.js";
import { ban } from "../../src/policies/index.js";
import { fixedWindow, slidingWindow, tokenBucket } from "../../src/policy/builders.js";
import { nowMs, observed } from "./observed.js";

const ada = { user: "ada" };
const perMinute = { window: "1m", by: "user" } as const;

// What has been told is remembered by the process's own clock, whatever clock a store counts by.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

function pass(clock: { advance(byMs: number): void }, byMs: number): void {
  clock.advance(byMs);
  vi.advanceTimersByTime(byMs);
}

describe("the first refusal of an identity", () => {
  it("is told once for each window of the clock's grid", () => {
    const { clock, limiter, of } = observed({ api: fixedWindow({ limit: 1, ...perMinute }) });
    const first = () => of("firstRefusal").length;
    const ends = 60_000 - (nowMs % 60_000);
    for (let call = 0; call < 5; call += 1) limiter.check("api", ada);
    expect(first()).toBe(1);
    pass(clock, ends - 1);
    limiter.check("api", ada);
    expect(first()).toBe(1);
    pass(clock, 1);
    for (let call = 0; call < 5; call += 1) limiter.check("api", ada);
    expect(first()).toBe(2);
  });

  it("is told again one window after it was told, where windows slide", () => {
    const { clock, limiter, of } = observed({ api: slidingWindow({ limit: 1, ...perMinute }) });
    const refusedFor = (forMs: number) => {
      pass(clock, forMs);
      limiter.check("api", ada, { cost: 1 });
      limiter.check("api", ada, { cost: 1 });
      return of("firstRefusal").length;
    };
    expect(refusedFor(0)).toBe(1);
    expect(refusedFor(59_999)).toBe(1);
    expect(refusedFor(1)).toBe(2);
  });

  it("is told for each policy and subject, with what the policy answered", () => {
    const { limiter, of } = observed({
      read: tokenBucket({ limit: 1, ...perMinute }),
      trial: tokenBucket({ limit: 1, ...perMinute, shadow: true }),
    });
    for (const user of ["ada", "grace"])
      for (let call = 0; call < 3; call += 1) limiter.check(["read", "trial"], { user });
    const told = of("firstRefusal").map(({ policy, subject, shadow, outcome }) => [
      policy,
      subject,
      shadow,
      outcome.retryAfterMs,
    ]);
    expect(told).toEqual([
      ["read", "user=ada", false, 60_000],
      ["trial", "user=ada", true, 60_000],
      ["read", "user=grace", false, 60_000],
      ["trial", "user=grace", true, 60_000],
    ]);
  });

  it("is not told of a look", () => {
    const { limiter, of } = observed({ api: slidingWindow({ limit: 1, ...perMinute }) });
    limiter.check("api", ada);
    limiter.peek("api", ada);
    expect(of("firstRefusal")).toEqual([]);
  });
});

describe("a ban", () => {
  const penalty = { on: "refusals", after: 2, within: "1m", ban: "5m" } as const;

  it("is told with the decision that leads to it, once while it lasts", () => {
    const { clock, limiter, of } = observed({
      login: slidingWindow({ limit: 1, ...perMinute, penalty }),
    });
    const calls = (count: number) => {
      for (let call = 0; call < count; call += 1) limiter.check("login", ada);
      return of("ban").map(({ policy, subject, banMs }) => [policy, subject, banMs]);
    };
    const told = ["login", "user=ada", 300_000];
    expect(calls(2)).toEqual([]);
    expect(calls(5)).toEqual([told]);
    pass(clock, 299_999);
    expect(calls(1)).toEqual([told]);
    pass(clock, 1);
    expect(calls(3)).toEqual([told, told]);
  });

  it("that somebody made by hand is told with the first decision that meets it", () => {
    const { clock, limiter, of } = observed({
      login: slidingWindow({ limit: 1, ...perMinute, penalty }),
    });
    ban(limiter, "login", { identity: ada, forMs: 10_000 });
    expect(of("ban")).toEqual([]);
    pass(clock, 4_000);
    limiter.check("login", ada);
    expect(of("ban").map(({ banMs }) => banMs)).toEqual([6_000]);
  });
});

describe("what has been told", () => {
  it("takes no more than 10,000 entries, the oldest of which is news again first", () => {
    const remembered = new Remembered();
    for (let who = 0; who < 10_000; who += 1) remembered.isNews(`user=${who}`, 0, 1_000);
    expect(remembered.isNews("user=0", 999, 1_000)).toBe(false);
    expect(remembered.isNews("user=new", 0, 1_000)).toBe(true);
    expect(remembered.size).toBe(10_000);
    expect(remembered.isNews("user=1", 0, 1_000)).toBe(false);
    expect(remembered.isNews("user=0", 0, 1_000)).toBe(true);
  });
});
