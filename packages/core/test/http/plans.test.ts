import { parseRateLimit } from "ratelimit-header-parser";
import { parseList } from "structured-headers";
import { describe, expect, it, test } from "vitest";
import { undecided } from "../../src/decision/decision.js";
import { mergeExposed } from "../../src/http/cors.js";
import { digits, limitFieldNames, retryAfterSeconds } from "../../src/http/fields.js";
import { resolveOptions } from "../../src/http/options.js";
import { definePolicy } from "../../src/policy/define.js";
import type { AskOptions } from "./guarded.js";
import {
  deniedOf,
  headersOf,
  outcomeOf,
  planOf,
  planOfDecision,
  policyOf,
  refusalOf,
} from "./made.js";

describe("numbers", () => {
  it("X-2: an independent parser reads the three fields as they are planned", () => {
    const outcome = outcomeOf({ limit: 5, remaining: 3, resetMs: 877 });
    expect(parseRateLimit(headersOf(planOf([outcome])), { reset: "unix" })).toEqual({
      limit: 5,
      remaining: 3,
      used: 2,
      reset: new Date(1_700_000_001_000),
    });
  });

  test.each([
    [0, "0"],
    [4.999, "4"],
    [0.9999999, "0"],
    [-3, "0"],
    [-0, "0"],
    [Number.NaN, "0"],
    [Infinity, "999999999999999"],
    [1e21, "999999999999999"],
    [999_999_999_999_999, "999999999999999"],
    [1e15, "999999999999999"],
  ])("T-4, X-3: %d is sent as %s", (value, text) => {
    expect(digits(value)).toBe(text);
  });

  test.each([
    [0, 1],
    [-5, 1],
    [1, 1],
    [1000, 1],
    [1000.4, 2],
    [1001, 2],
    [41_001, 42],
    [2_147_483_000, 2_147_483],
    [2_147_483_001, 2_147_483],
    [2 ** 52, 2_147_483],
  ])("T-3, RA-3, RA-4: a wait of %d ms is told as %d seconds", (ms, seconds) => {
    expect(retryAfterSeconds(ms)).toBe(seconds);
  });

  it("remaining is never more than the limit", () => {
    expect(
      headersOf(planOf([outcomeOf({ limit: 5, remaining: 9 })]))["x-ratelimit-remaining"],
    ).toBe("5");
  });
});

describe("names", () => {
  it("X-11: follow the prefix", () => {
    expect(limitFieldNames("a-Z9!#$%&'*+.^_`|~")).toEqual({
      limit: "a-Z9!#$%&'*+.^_`|~-Limit",
      remaining: "a-Z9!#$%&'*+.^_`|~-Remaining",
      reset: "a-Z9!#$%&'*+.^_`|~-Reset",
    });
  });

  test.each(["", " X", "X Y", "X:", "X\n", "é", "X,Y", 7])("X-11: %j is no prefix", (prefix) => {
    expect(() => limitFieldNames(prefix as string)).toThrow(
      'headerPrefix: must be an HTTP token such as "X-RateLimit", got ',
    );
  });
});

describe("C-5: exposed names", () => {
  test.each([
    ["", ["A", "B"], "A, B"],
    ["A", ["A", "B"], "A, B"],
    ["a , ,c", ["A", "B"], "a, c, B"],
    ["*", ["A"], "*"],
    ["B, *", ["A"], "B, *"],
    ["*x", ["A"], "*x, A"],
  ])("%j and %j are %j", (existing, names, merged) => {
    expect(mergeExposed(existing, names)).toBe(merged);
  });
});

describe("I-5: w", () => {
  const w = (input: Record<string, unknown>): string | undefined => {
    const policy = definePolicy("p", input);
    const plan = planOf([outcomeOf({ policy, limit: 3 })], { standardHeaders: "draft-11" });
    return headersOf(plan)["ratelimit-policy"];
  };

  test.each([
    [{ algorithm: "fixed-window", limit: 10, windowMs: 200 }, '"p";q=3;w=1'],
    [{ algorithm: "sliding-window", limit: 10, windowMs: 1_000 }, '"p";q=3;w=1'],
    [{ algorithm: "sliding-window-counter", limit: 10, windowMs: 1_001 }, '"p";q=3;w=2'],
    [{ algorithm: "token-bucket", limit: 3, windowMs: 1_000, burst: 10 }, '"p";q=3;w=4'],
    [{ algorithm: "leaky-bucket", limit: 2, windowMs: 3_000, queue: 4 }, '"p";q=3;w=8'],
  ])("of %j", (input, expected) => {
    expect(w(input)).toBe(expected);
  });
});

describe("the IETF fields", () => {
  const options = { standardHeaders: "draft-11" } as const;

  it("I-6: t is left out when full, and at least 1 otherwise", () => {
    const fieldOf = (nextMs: number | undefined) =>
      headersOf(planOf([outcomeOf({ limit: 5, remaining: 3, nextMs })], options)).ratelimit;
    expect([fieldOf(undefined), fieldOf(0), fieldOf(1), fieldOf(1000), fieldOf(1001)]).toEqual([
      '"default";r=3',
      '"default";r=3;t=1',
      '"default";r=3;t=1',
      '"default";r=3;t=1',
      '"default";r=3;t=2',
    ]);
  });

  it("I-9: only a refusing policy's t is kept below Retry-After", () => {
    const refusing = deniedOf({
      policy: policyOf("a", 5),
      limit: 5,
      retryAfterMs: 2 ** 40,
      nextMs: 2 ** 40,
      resetMs: 2 ** 40,
    });
    const other = outcomeOf({ policy: policyOf("b", 5), limit: 5, remaining: 1, nextMs: 2 ** 40 });
    const { ratelimit } = headersOf(planOf([refusing, other], options));
    expect(ratelimit).toBe(`"a";r=0;t=2147483, "b";r=1;t=${Math.ceil(2 ** 40 / 1000)}`);
  });

  it("M-6: of two policies with one name the tighter is listed, in its first place", () => {
    const outcomes = [
      outcomeOf({ policy: policyOf("a", 5), limit: 5, remaining: 2 }),
      outcomeOf({ policy: policyOf("b", 7), limit: 7, remaining: 7 }),
      outcomeOf({ policy: policyOf("a", 4), limit: 4, remaining: 1 }),
      outcomeOf({ policy: policyOf("b", 8), limit: 8, remaining: 8 }),
    ];
    const headers = headersOf(planOf(outcomes, options));
    expect(headers["ratelimit-policy"]).toBe('"a";q=4;w=60, "b";q=7;w=60');
    expect(headers.ratelimit).toBe('"a";r=1, "b";r=7');
    expect(parseList(headers.ratelimit as string)).toHaveLength(2);
  });

  it("are not sent when no policy decided, nor by default", () => {
    const decision = undecided(policyOf("a", 5), "open", { reason: "admitted", retryAfterMs: 0 });
    expect(headersOf(planOfDecision(decision, options))).toEqual({ "x-ratelimit-limit": "5" });
    expect(headersOf(planOf([outcomeOf({ limit: 5 })])).ratelimit).toBeUndefined();
  });
});

describe("bodies", () => {
  const denied = deniedOf({ limit: 5, retryAfterMs: 1, resetMs: 1 });

  it("B-3: one second is singular", () => {
    expect(refusalOf([denied]).body).toContain('"Too many requests. Retry after 1 second."');
    expect(refusalOf([{ ...denied, retryAfterMs: 1001, resetMs: 1001 }]).body).toContain(
      "2 seconds.",
    );
  });

  it("S-5: what can never fit has no promise", () => {
    const plan = refusalOf([{ ...denied, retryAfterMs: Infinity }]);
    expect(plan.body).toBe(
      '{"error":{"code":"RATE_LIMITED","message":"Too many requests. This request can never fit the limit."}}',
    );
    expect(plan.headers).toContainEqual(["Retry-After", undefined]);
  });

  it("B-4: the problem form of a refusal, with the real status", () => {
    const outcomes = [denied, outcomeOf({ policy: policyOf("b", 5), limit: 5 })];
    const plan = refusalOf(outcomes, { body: "problem", status: 403 });
    expect([plan.status, plan.body]).toEqual([
      403,
      '{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Quota Exceeded","status":403,"detail":"Too many requests. Retry after 1 second.","violated-policies":["default"]}',
    ]);
    expect(headersOf(plan)["content-type"]).toBe("application/problem+json");
  });

  it("B-4: the problem form of an outage", () => {
    const decision = undecided(policyOf("a", 5), "closed", {
      reason: "store-failure",
      retryAfterMs: 1500,
    });
    const plan = planOfDecision(decision, { body: "problem", status: 429 });
    expect(plan).toMatchObject({
      status: 503,
      body: '{"type":"about:blank","title":"Service Unavailable","status":503,"detail":"The rate limiter is unavailable. Retry after 2 seconds."}',
    });
    expect(headersOf(plan)).toMatchObject({ "retry-after": "2", "x-ratelimit-limit": "5" });
  });

  it("B-2: the JSON form of an outage", () => {
    const decision = undecided(policyOf("a", 5), "closed", {
      reason: "store-failure",
      retryAfterMs: 1,
    });
    expect(planOfDecision(decision)).toMatchObject({
      body: '{"error":{"code":"RATE_LIMITER_UNAVAILABLE","message":"The rate limiter is unavailable. Retry after 1 second."}}',
    });
  });

  it("B-5: a function's headers come after all others, and it knows the seconds", () => {
    const plan = refusalOf([denied], {
      body: (decision, { message, retryAfterSeconds: seconds }) => ({
        contentType: "text/plain",
        body: `${decision.reason} ${seconds} ${message}`,
        headers: { "X-Own": "1" },
      }),
    });
    expect(plan.body).toBe("limit 1 Too many requests. Retry after 1 second.");
    expect(plan.headers.slice(-2)).toEqual([
      ["Content-Type", "text/plain"],
      ["X-Own", "1"],
    ]);
  });

  it("X-13: without fields the refusal keeps the rest", () => {
    expect(headersOf(refusalOf([denied], { headers: false }))).toEqual({
      "retry-after": "1",
      "cache-control": "no-store",
      "content-type": "application/json; charset=utf-8",
    });
  });

  it("C-5: names are told for other origins only, by what is sent", () => {
    const outcomes = [outcomeOf({ limit: 5 })];
    expect(planOf(outcomes, {}, false).expose).toEqual([]);
    expect(
      planOf(outcomes, { standardHeaders: "draft-11", headerPrefix: "L" }, true).expose,
    ).toEqual([
      "Retry-After",
      "L-Limit",
      "L-Remaining",
      "L-Reset",
      "RateLimit-Policy",
      "RateLimit",
    ]);
    expect(planOf(outcomes, { headers: false }, true).expose).toEqual(["Retry-After"]);
  });
});

describe("options", () => {
  it("have their defaults, and undefined counts as left out", () => {
    const defaults = {
      cost: 1,
      inherit: [],
      override: {},
      onMissingKey: "ip",
      ipv6Prefix: 56,
      enabled: true,
      countPreflights: false,
      headers: true,
      headerPrefix: "X-RateLimit",
      standardHeaders: false,
      exposeHeaders: false,
      status: 429,
      body: "json",
      wallClock: Date.now,
    };
    expect(resolveOptions({})).toEqual(defaults);
    const unset = Object.fromEntries(Object.keys(defaults).map((name) => [name, undefined]));
    expect(resolveOptions({ ...unset, skip: undefined } as object)).toEqual(defaults);
  });

  test.each<[string, readonly unknown[], readonly unknown[]]>([
    ["identify", [() => undefined], [1, {}, null]],
    ["cost", [1, {}, () => 1], ["1", null, true, []]],
    ["skip", [() => true, {}, { a: () => true }], [true, { a: true }, null, []]],
    ["allow", [{}, { ip: [] }, { user: ["a"] }], [[], { ip: "a" }, { user: [1] }, null, "a"]],
    ["onMissingKey", ["ip", "shared", "allow", "deny"], ["", "drop", null]],
    ["ipv6Prefix", [32, 56, 128], [31, 129, 56.5, "56"]],
    ["enabled", [true, false], [0, "false", null]],
    ["countPreflights", [true, false], [1]],
    ["headers", [true, false], [1]],
    ["headerPrefix", ["X"], [1, null]],
    ["standardHeaders", [false, "draft-11"], [true, "draft-12"]],
    ["exposeHeaders", [true, false], ["*"]],
    ["status", [400, 429, 599], [399, 600, 429.5, "429"]],
    ["body", ["json", "problem", () => ({})], ["html", {}, null]],
    ["onDecision", [() => {}], [1]],
    ["wallClock", [() => 0], [0]],
  ])("%s takes its values and no others", (name, right, wrong) => {
    for (const value of right)
      expect(resolveOptions({ [name]: value } as AskOptions)).toMatchObject({ [name]: value });
    for (const value of wrong)
      expect(() => resolveOptions({ [name]: value } as AskOptions)).toThrow(
        expect.objectContaining({
          code: "INVALID_OPTION",
          message: expect.stringMatching(new RegExp(`^${name}: must be .+, got .+`)),
        }),
      );
  });

  it.each(["max", "constructor", "__proto__x"])("%s is no option", (name) => {
    expect(() => resolveOptions({ [name]: 1 } as AskOptions)).toThrow(
      `${name}: there is no option of that name`,
    );
  });
});
