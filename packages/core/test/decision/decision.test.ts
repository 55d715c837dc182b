import { describe, expect, it } from "vitest";
import { decisionOf } from "../../src/decision/decision.js";
import { definePolicy } from "../../src/policy/define.js";
import type { Outcome } from "../../src/store/store.js";

function outcome(name: string, fields: Partial<Outcome>): Outcome {
  return {
    policy: definePolicy(name, { algorithm: "fixed-window", limit: 1_000, window: "1d" }),
    cost: 1,
    allowed: true,
    limit: 1_000,
    remaining: 500,
    retryAfterMs: 0,
    nextMs: undefined,
    resetMs: 1_000,
    banMs: 0,
    delayMs: 0,
    receipt: undefined,
    ...fields,
  };
}

const reported = (...outcomes: Outcome[]) => decisionOf(outcomes).policy.name;

describe("M-2: a refusal reports", () => {
  const refused = (name: string, retryAfterMs: number) =>
    outcome(name, { allowed: false, remaining: 0, retryAfterMs, resetMs: retryAfterMs });

  it("the violated policy with the largest retryAfterMs", () => {
    expect(reported(refused("a", 5), refused("b", 7), refused("c", 6))).toBe("b");
  });

  it("the first declared of those that tie", () => {
    expect(reported(refused("a", 5), refused("b", 7), refused("c", 7))).toBe("b");
  });

  it("a violated policy, however near to exhaustion an admitting one is", () => {
    expect(reported(outcome("a", { remaining: 0, resetMs: 9_999 }), refused("b", 1))).toBe("b");
    expect(reported(refused("b", 1), outcome("a", { remaining: 0, resetMs: 9_999 }))).toBe("b");
  });

  it("the policy that can never admit above every other, without a time", () => {
    const decision = decisionOf([refused("a", 5), refused("b", Infinity), refused("c", 9)]);
    expect(decision).toMatchObject({ reason: "never", retryAfterMs: Infinity });
    expect(decision.policy.name).toBe("b");
  });

  it("the numbers of that policy, and no delay", () => {
    const a = outcome("a", { delayMs: 40 });
    const b = refused("b", 7);
    expect(decisionOf([a, b])).toEqual({
      allowed: false,
      reason: "limit",
      degraded: "none",
      outcomes: [a, b],
      shadows: [],
      policy: b.policy,
      limit: 1_000,
      remaining: 0,
      retryAfterMs: 7,
      resetMs: 7,
      delayMs: 0,
    });
  });
});

describe("M-3: an admission reports", () => {
  it("the policy with the fewest further requests of this cost", () => {
    expect(reported(outcome("a", { remaining: 3 }), outcome("b", { remaining: 2 }))).toBe("b");
    const perRequest = outcome("requests", { remaining: 5 });
    const tokens = outcome("tokens", { cost: 800, remaining: 3_199, limit: 10_000 });
    expect(reported(perRequest, tokens)).toBe("tokens");
    expect(reported({ ...perRequest, remaining: 2 }, tokens)).toBe("requests");
  });

  it("the longer resetMs where the further requests tie", () => {
    const a = outcome("a", { remaining: 9, cost: 5, resetMs: 10 });
    const b = outcome("b", { remaining: 1, cost: 1, resetMs: 20 });
    const c = outcome("c", { remaining: 1, cost: 0, resetMs: 20 });
    expect(reported(a, b, c)).toBe("b");
    expect(reported(b, a)).toBe("b");
  });

  it("the first declared where everything ties", () => {
    expect(reported(outcome("a", {}), outcome("b", {}))).toBe("a");
  });

  it("the contract's example: burst with 3 left and daily with 2 left", () => {
    const burst = outcome("burst", { limit: 10, remaining: 3 });
    const daily = outcome("daily", { limit: 1_000, remaining: 2 });
    expect(decisionOf([burst, daily])).toMatchObject({ limit: 1_000, remaining: 2 });
  });

  it("the delay of the one policy that holds, whichever is reported", () => {
    const queue = outcome("queue", { delayMs: 250, remaining: 900 });
    expect(decisionOf([outcome("a", { remaining: 1 }), queue])).toMatchObject({
      allowed: true,
      reason: "admitted",
      retryAfterMs: 0,
      delayMs: 250,
    });
  });
});

it("tells when the numbers are those of this process alone", () => {
  expect(decisionOf([outcome("a", {})], "local").degraded).toBe("local");
});
