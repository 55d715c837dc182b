import { describe, expect, test } from "vitest";
import { algorithms } from "../../src/algorithms/index.js";
import { definePolicy } from "../../src/policy/define.js";
import type { Policy } from "../../src/policy/policy.js";

// What a store never shows, since it drops states that are untouched: the algorithms alone.

const windowMs = 1_000;
const now = 1_700_000_000_000;

function policyOf(algorithm: Policy["algorithm"], limit: number): Policy {
  const own = algorithm === "leaky-bucket" ? { queue: limit - 1 } : {};
  return definePolicy("api", { algorithm, limit, windowMs, ...own });
}

const names = Object.keys(algorithms) as Policy["algorithm"][];

describe.each(names)("%s", (name) => {
  const algorithm = algorithms[name];
  const policy = policyOf(name, 4);

  test("admits cost 0 in a state above its capacity, and nothing else", () => {
    const state = algorithm.create(policy);
    algorithm.spend(policy, state, now, 4);
    const lowered = policyOf(name, 2);

    expect(algorithm.measure(lowered, state, now, 0)).toMatchObject({
      allowed: true,
      remaining: 0,
      retryAfterMs: 0,
      delayMs: 0,
    });
    expect(algorithm.measure(lowered, state, now, 1).allowed).toBe(false);
  });

  test("has an untouched state that has expired already", () => {
    expect(algorithm.expiresAt(policy, algorithm.create(policy))).toBe(0);
  });

  test("is untouched after a refund of all that was taken", () => {
    const state = algorithm.create(policy);
    const receipt = algorithm.spend(policy, state, now, 3);
    algorithm.refund(policy, state, receipt, now);

    expect(algorithm.expiresAt(policy, state)).toBe(0);
    expect(algorithm.measure(policy, state, now, 0)).toEqual(
      algorithm.measure(policy, undefined, now, 0),
    );
    // Not even an earlier clock meets anything of it.
    expect(algorithm.measure(policy, state, now - 5_000, 4)).toEqual(
      algorithm.measure(policy, undefined, now - 5_000, 4),
    );
  });

  test("expires no earlier than it is reset", () => {
    const state = algorithm.create(policy);
    algorithm.spend(policy, state, now, 3);
    const { resetMs } = algorithm.measure(policy, state, now, 0);

    expect(algorithm.expiresAt(policy, state)).toBeGreaterThanOrEqual(now + resetMs);
  });

  test("changes nothing by a refund that comes too late", () => {
    const state = algorithm.create(policy);
    const receipt = algorithm.spend(policy, state, now, 2);
    const later = now + 10 * windowMs;
    algorithm.spend(policy, state, later, 1);
    const before = algorithm.measure(policy, state, later, 0);
    algorithm.refund(policy, state, receipt, later);

    expect(algorithm.measure(policy, state, later, 0)).toEqual(before);
  });
});
