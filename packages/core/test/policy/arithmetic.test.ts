import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { capacityOf } from "../../src/policy/capacity.js";
import { definePolicy } from "../../src/policy/define.js";
import { memoryStore } from "../../src/store/memory/memory-store.js";
import { refusalOf } from "./faults.js";

const most = Number.MAX_SAFE_INTEGER;

/** Each row: algorithm, window, the bounded field, and the largest value that fits. */
const bounds = [
  ["fixed-window", 1, "limit", Math.floor(most / 2)],
  ["fixed-window", 86_400_000, "limit", Math.floor(most / 2)],
  ["sliding-window", 60_000, "limit", Math.floor(most / 2)],
  ["sliding-window-counter", 1, "limit", Math.floor(most / 2)],
  ["sliding-window-counter", 3, "limit", Math.floor(most / 3)],
  ["sliding-window-counter", 60_000, "limit", Math.floor(most / 60_000)],
  ["token-bucket", 1, "limit", Math.floor(most / 2)],
  ["token-bucket", 60_000, "limit", Math.floor(most / 120_000)],
  ["token-bucket", 86_400_000, "burst", Math.floor(most / 172_800_000)],
  ["leaky-bucket", 60_000, "queue", Math.floor(most / 120_000) - 1],
] as const;

describe.each(bounds)("%s with a window of %d ms", (algorithm, windowMs, field, largest) => {
  // A limit as large as can be lets any queue leave in time.
  const base = { algorithm, windowMs, limit: field === "limit" ? 1 : most };

  it(`accepts the ${field} ${largest}, the largest that fits`, () => {
    expect(refusalOf({ ...base, [field]: largest })).toBeUndefined();
  });

  it("refuses one more, and the error names the largest", () => {
    expect(refusalOf({ ...base, [field]: largest + 1 })).toBe(
      `policy "api": ${field} is too large for exact arithmetic (at most ${largest}), got ${largest + 1}`,
    );
  });

  it("keeps every number of a decision exact at the largest", () => {
    const policy = definePolicy("api", { ...base, [field]: largest });
    const store = memoryStore({ clock: { now: () => 1_700_000_000_123 } });
    const capacity = capacityOf(policy);
    const charge = { policy, subject: "ip=1", cost: capacity };
    const [all] = store.apply([charge], "commit", true);
    expect(all).toMatchObject({ allowed: true, remaining: 0, limit: capacity });
    const [more] = store.apply([{ ...charge, cost: 1 }], "commit", true);
    expect(more?.allowed).toBe(false);
    for (const time of [all?.resetMs, all?.nextMs, more?.retryAfterMs])
      expect(Number.isSafeInteger(time)).toBe(true);
    expect(more?.retryAfterMs).toBeGreaterThan(0);
  });
});

describe("windows so long that nothing fits", () => {
  it.each([
    ["token-bucket", { limit: 1 }, "limit"],
    ["token-bucket", { limit: 1, burst: 1 }, "burst"],
    ["leaky-bucket", { limit: 1, queue: 0 }, "queue"],
  ] as const)("%s says so", (algorithm, fields, field) => {
    expect(refusalOf({ algorithm, windowMs: 2 ** 52 - 1, ...fields })).toBeUndefined();
    expect(refusalOf({ algorithm, windowMs: 2 ** 52, ...fields })).toBe(
      `policy "api": ${field} is too large for exact arithmetic (there is none), got ${fields[field as keyof typeof fields]}`,
    );
  });

  it.each(["fixed-window", "sliding-window", "sliding-window-counter"])(
    "%s accepts a window of 2^51 ms and refuses one more, since instants are added to windows",
    (algorithm) => {
      const base = { algorithm, limit: 1 };
      expect(refusalOf({ ...base, windowMs: 2 ** 51 })).toBeUndefined();
      expect(refusalOf({ ...base, windowMs: 2 ** 51 + 1 })).toBe(
        'policy "api": windowMs is too large for exact arithmetic (at most 2251799813685248), got 2251799813685249',
      );
      expect(refusalOf({ ...base, window: "99999999d" })).toMatch("window is too large");
    },
  );

  test("the times of a window of 2^51 ms are exact", () => {
    const now = 1_700_000_000_123;
    const windowMs = 2 ** 51;
    const store = memoryStore({ clock: { now: () => now } });
    const answer = (input: Record<string, unknown>, name: string) => {
      const policy = definePolicy(name, { limit: 1, windowMs, ...input });
      return store.apply([{ policy, subject: "ip=1", cost: 1 }], "commit")[0]?.resetMs;
    };
    expect(answer({ algorithm: "fixed-window" }, "grid")).toBe(windowMs - now);
    expect(answer({ algorithm: "fixed-window", anchor: "first-request" }, "own")).toBe(windowMs);
    expect(answer({ algorithm: "sliding-window" }, "log")).toBe(windowMs);
    expect(answer({ algorithm: "sliding-window-counter" }, "two")).toBe(2 * windowMs - now);
  });
});

test("whatever numbers a policy is given, it is refused or all its arithmetic is exact", () => {
  const size = fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.maxSafeInteger());
  fc.assert(
    fc.property(
      fc.constantFrom("fixed-window", "sliding-window", "sliding-window-counter", "token-bucket"),
      size,
      size,
      (algorithm, limit, windowMs) => {
        if (refusalOf({ algorithm, limit, windowMs }) !== undefined) return;
        const exact = (product: bigint) => expect(product < 2n ** 53n).toBe(true);
        exact(2n * BigInt(limit));
        if (algorithm === "sliding-window-counter") exact(BigInt(limit) * BigInt(windowMs));
        if (algorithm === "token-bucket") exact(2n * BigInt(limit) * BigInt(windowMs));
        else exact(2n * BigInt(windowMs) + 1_700_000_000_000n);
      },
    ),
    { numRuns: 2_000 },
  );
});
