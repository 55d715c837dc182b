import { describe, expect, it, test } from "vitest";
import { passPlan } from "../../src/http/plan.js";
import { definePolicy } from "../../src/policy/define.js";
import type { Outcome } from "../../src/store/store.js";
import { deniedOf, headersOf, nowMs, outcomeOf, planOf } from "./made.js";

type Row = readonly [
  id: string,
  outcome: Outcome,
  retryAfter: string | undefined,
  limit: string,
  remaining: string,
  reset: string,
];

const rows: readonly Row[] = [
  [
    "G1",
    deniedOf({ limit: 5, retryAfterMs: 41_001, resetMs: 41_001 }),
    "42",
    "5",
    "0",
    "1700000042",
  ],
  ["G2", deniedOf({ limit: 5, retryAfterMs: 1, resetMs: 59_877 }), "1", "5", "0", "1700000060"],
  ["G3", deniedOf({ limit: 5, retryAfterMs: 1000, resetMs: 1000 }), "1", "5", "0", "1700000002"],
  [
    "G4",
    deniedOf({ limit: 5, retryAfterMs: 1000.4, resetMs: 1000.4 }),
    "2",
    "5",
    "0",
    "1700000002",
  ],
  ["G5", deniedOf({ limit: 5, retryAfterMs: 0, resetMs: 0 }), "1", "5", "0", "1700000001"],
  [
    "G6",
    deniedOf({ limit: 5, retryAfterMs: 2_592_000_000, resetMs: 2_592_000_000 }),
    "2147483",
    "5",
    "0",
    "1702592001",
  ],
  [
    "G7",
    outcomeOf({ limit: 5, remaining: 4.999, resetMs: 877 }),
    undefined,
    "5",
    "4",
    "1700000001",
  ],
  ["G8", outcomeOf({ limit: 5 }), undefined, "5", "5", "1700000001"],
  [
    "G9",
    deniedOf({ limit: 20, cost: 10, remaining: 5.2, retryAfterMs: 4800, resetMs: 14_800 }),
    "5",
    "20",
    "5",
    "1700000015",
  ],
  [
    "G10",
    deniedOf({ limit: 5, cost: 6, remaining: 5, retryAfterMs: Infinity }),
    undefined,
    "5",
    "5",
    "1700000001",
  ],
  [
    "G12",
    outcomeOf({ limit: 5, remaining: -3, resetMs: 41_001 }),
    undefined,
    "5",
    "0",
    "1700000042",
  ],
];

describe("golden vectors at 1700000000123 ms", () => {
  test.each(rows)("%s", (_, outcome, retryAfter, limit, remaining, reset) => {
    const headers = headersOf(planOf([outcome]));
    expect(headers["retry-after"]).toBe(retryAfter);
    expect(headers["x-ratelimit-limit"]).toBe(limit);
    expect(headers["x-ratelimit-remaining"]).toBe(remaining);
    expect(headers["x-ratelimit-reset"]).toBe(reset);
  });

  it("G11: without a policy there are no fields", () => {
    expect(passPlan.headers).toEqual([]);
  });

  it("G12: a remaining that is no number is sent as 0", () => {
    const headers = headersOf(planOf([outcomeOf({ limit: 5, remaining: Number.NaN })]));
    expect(headers["x-ratelimit-remaining"]).toBe("0");
  });

  it("T-1: header, message and t come from one reading of the clock", () => {
    const denied = deniedOf({ limit: 5, retryAfterMs: 41_001, resetMs: 41_001, nextMs: 41_001 });
    const plan = planOf([denied], { standardHeaders: "draft-11" });
    const headers = headersOf(plan);
    expect(headers["retry-after"]).toBe("42");
    expect(headers.ratelimit).toBe('"default";r=0;t=42');
    expect(headers["x-ratelimit-reset"]).toBe(String(Math.ceil((nowMs + 41_001) / 1000)));
    expect(plan.action === "reject" && plan.body).toContain("Retry after 42 seconds.");
  });
});

describe("golden vectors in the IETF fields", () => {
  it("G9 as api: 20 tokens at one a second", () => {
    const policy = definePolicy("api", {
      algorithm: "token-bucket",
      limit: 1,
      windowMs: 1000,
      burst: 20,
    });
    const g9 = deniedOf({
      policy,
      limit: 20,
      cost: 10,
      remaining: 5.2,
      retryAfterMs: 4800,
      nextMs: 800,
      resetMs: 14_800,
    });
    const headers = headersOf(planOf([g9], { standardHeaders: "draft-11" }));
    expect(headers["ratelimit-policy"]).toBe('"api";q=20;w=20');
    expect(headers.ratelimit).toBe('"api";r=5;t=1');
  });

  it("G1 as default: 5 in 60 s", () => {
    const g1 = deniedOf({ limit: 5, retryAfterMs: 41_001, nextMs: 41_001, resetMs: 41_001 });
    const headers = headersOf(planOf([g1], { standardHeaders: "draft-11" }));
    expect(headers["ratelimit-policy"]).toBe('"default";q=5;w=60');
    expect(headers.ratelimit).toBe('"default";r=0;t=42');
  });
});
