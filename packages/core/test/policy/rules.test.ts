import { describe, expect, it, test } from "vitest";
import { fixedWindow, leakyBucket, tokenBucket } from "../../src/policy/builders.js";
import { definePolicy } from "../../src/policy/define.js";
import { algorithms, example, refusalOf, valid } from "./faults.js";

const notIntegers: readonly (readonly [unknown, string])[] = [
  [0, "0"],
  [-1, "-1"],
  [1.5, "1.5"],
  [Number.NaN, "NaN"],
  [Number.POSITIVE_INFINITY, "Infinity"],
  [Number.NEGATIVE_INFINITY, "-Infinity"],
  [2 ** 53, "9007199254740992"],
  ["5", '"5"'],
  ["", '""'],
  [5n, "5n"],
  [null, "null"],
  [true, "true"],
  [false, "false"],
  [{}, "an object"],
  [[5], "an array of 1"],
  [() => 5, "a function"],
  [new Date(5), "an object"],
  [Symbol("five"), "Symbol(five)"],
];

describe.each(algorithms)("%s", (algorithm) => {
  it.each([...notIntegers, [undefined, "undefined"] as const])(
    "refuses the limit %s, naming policy, rule and value",
    (limit, shown) => {
      expect(refusalOf({ ...example(algorithm), limit })).toBe(
        `policy "api": limit must be a positive integer, got ${shown}`,
      );
    },
  );

  it.each([...notIntegers, [undefined, "undefined"] as const])(
    "refuses the window %s",
    (window, shown) => {
      expect(refusalOf({ ...example(algorithm), window })).toBe(
        `policy "api": window must be a positive whole number of milliseconds, or text like "10s", "1m", "24h", got ${shown}`,
      );
    },
  );

  it.each(notIntegers)("refuses the windowMs %s", (windowMs, shown) => {
    const { window: _, ...rest } = example(algorithm);
    expect(refusalOf({ ...rest, windowMs })).toBe(
      `policy "api": windowMs must be a positive whole number of milliseconds, got ${shown}`,
    );
  });

  it("refuses a windowMs in words, which the window is for", () => {
    const { window: _, ...rest } = example(algorithm);
    expect(refusalOf({ ...rest, windowMs: "1m" })).toContain("windowMs must be");
  });

  it.each(["limits", "max", "windowSeconds", "constructor", "__proto__x"])(
    "refuses the unknown option %s",
    (option) => {
      expect(refusalOf({ ...example(algorithm), [option]: 1 })).toBe(
        `policy "api": ${option} is not an option of ${algorithm}, got 1`,
      );
    },
  );

  it("refuses an unknown option even where its value is undefined", () => {
    expect(refusalOf({ ...example(algorithm), tokens: undefined })).toContain("tokens is not");
  });
});

describe("options of other algorithms", () => {
  it.each([
    ["token-bucket", "anchor", "clock"],
    ["token-bucket", "queue", 1],
    ["fixed-window", "burst", 1],
    ["sliding-window", "anchor", "clock"],
    ["sliding-window-counter", "queue", 1],
    ["leaky-bucket", "burst", 1],
    ["sliding-window", "maxDelayMs", 1],
  ] as const)("%s refuses %s", (algorithm, option, value) => {
    expect(refusalOf({ ...example(algorithm), [option]: value })).toMatch(
      `${option} is not an option of ${algorithm}`,
    );
  });
});

describe("own options", () => {
  it.each(notIntegers)("token-bucket refuses the burst %s", (burst, shown) => {
    expect(refusalOf({ ...valid, burst })).toBe(
      `policy "api": burst must be a positive integer, got ${shown}`,
    );
  });

  it.each(notIntegers.filter(([value]) => value !== 0))(
    "leaky-bucket refuses the queue %s",
    (queue, shown) => {
      expect(refusalOf({ ...example("leaky-bucket"), queue })).toBe(
        `policy "api": queue must be an integer from 0, got ${shown}`,
      );
    },
  );

  it("leaky-bucket refuses to go without a queue", () => {
    expect(refusalOf({ ...valid, algorithm: "leaky-bucket" })).toBe(
      'policy "api": queue must be an integer from 0, got undefined',
    );
  });

  it.each(notIntegers.filter(([value]) => value !== 0))(
    "leaky-bucket refuses the maxDelayMs %s",
    (maxDelayMs, shown) => {
      expect(refusalOf({ ...example("leaky-bucket"), maxDelayMs })).toBe(
        `policy "api": maxDelayMs must be an integer from 0, got ${shown}`,
      );
    },
  );

  it("leaky-bucket accepts a queue of 0 with a maxDelayMs of 0", () => {
    expect(refusalOf({ ...example("leaky-bucket"), queue: 0, maxDelayMs: 0 })).toBeUndefined();
  });

  it("leaky-bucket accepts a maxDelayMs that a timer can hold and refuses one more", () => {
    const policy = example("leaky-bucket");
    expect(refusalOf({ ...policy, maxDelayMs: 2 ** 31 - 1 })).toBeUndefined();
    expect(refusalOf({ ...policy, maxDelayMs: 2 ** 31 })).toBe(
      'policy "api": maxDelayMs must be at most 2147483647, got 2147483648',
    );
  });

  it("leaky-bucket accepts a queue that holds for exactly maxDelayMs and refuses a longer one", () => {
    const policy = { algorithm: "leaky-bucket", limit: 1, window: "1s" };
    expect(refusalOf({ ...policy, queue: 10 })).toBeUndefined();
    expect(refusalOf({ ...policy, queue: 11 })).toBe(
      'policy "api": queue would hold a request for 11000 ms, longer than maxDelayMs 10000, got 11',
    );
    expect(refusalOf({ ...policy, queue: 11, maxDelayMs: 11_000 })).toBeUndefined();
    expect(refusalOf({ ...policy, queue: 11, maxDelayMs: 10_999 })).toContain("11000 ms");
  });

  it.each(["CLOCK", "", null, 1, ["clock"]])("fixed-window refuses the anchor %j", (anchor) => {
    expect(refusalOf({ ...example("fixed-window"), anchor })).toContain(
      "anchor must be one of clock, first-request, got ",
    );
  });
});

describe("common options", () => {
  it.each([
    ["sliding", '"sliding"'],
    ["", '""'],
    ["constructor", '"constructor"'],
    ["Token-Bucket", '"Token-Bucket"'],
    [undefined, "undefined"],
    [null, "null"],
    [["token-bucket"], "an array of 1"],
    [{ toString: (): string => "token-bucket" }, "an object"],
    [Symbol("x"), "Symbol(x)"],
  ])("refuses the algorithm %s", (algorithm, shown) => {
    expect(refusalOf({ ...valid, algorithm })).toBe(
      `policy "api": algorithm must be one of fixed-window, sliding-window, sliding-window-counter, token-bucket, leaky-bucket, got ${shown}`,
    );
  });

  it.each(["Open", "", null, false, "none", ["open"]])(
    "refuses the failure mode %j",
    (onStoreFailure) => {
      expect(refusalOf({ ...valid, onStoreFailure })).toContain(
        "onStoreFailure must be one of local, open, closed, got ",
      );
    },
  );

  it.each([0, -0.1, 1.01, Number.NaN, Number.POSITIVE_INFINITY, "1", "0.5", null, true, {}])(
    "refuses the localShare %s",
    (localShare) => {
      expect(refusalOf({ ...valid, localShare })).toContain(
        "localShare must be above 0 and at most 1, got ",
      );
    },
  );

  it.each([Number.MIN_VALUE, 0.25, 1])("accepts the localShare %d", (localShare) => {
    expect(definePolicy("api", { ...valid, localShare }).localShare).toBe(localShare);
  });

  it("refuses window and windowMs together, even where they agree", () => {
    expect(refusalOf({ ...valid, windowMs: 60_000 })).toBe(
      'policy "api": window and windowMs say the same thing: give one of them',
    );
  });

  it("lists every broken rule in one error", () => {
    const message = refusalOf({
      algorithm: "token-bucket",
      limit: 0,
      window: "1 minute",
      burst: -1,
      by: 7,
      onStoreFailure: "maybe",
      localShare: 2,
      colour: "red",
    });
    for (const field of [
      "limit",
      "window",
      "burst",
      "by",
      "onStoreFailure",
      "localShare",
      "colour",
    ])
      expect(message).toContain(`${field} `);
    expect(message?.split("; ")).toHaveLength(7);
  });

  it.each([null, undefined, 5, "text", [], true])("refuses %j in place of a policy", (input) => {
    expect(refusalOf(input)).toContain('policy "api": algorithm must be one of');
  });
});

describe("names", () => {
  const define = (name: unknown) => () => definePolicy(name as string, valid);

  it.each(["a", "A", "per-ip_2", "constructor", "toString", `a${"b".repeat(63)}`])(
    "accepts %s",
    (name) => {
      expect(define(name)().name).toBe(name);
    },
  );

  it.each(["", " ", "1a", "-a", "a b", "a.b", "ä", "a\n", "a\r\nSet-Cookie: x", "a:b", "a{b}"])(
    "refuses %j",
    (name) => {
      expect(define(name)).toThrow(
        `policy ${JSON.stringify(name)}: name must be a letter and then at most 63 letters, digits, _ or -, got ${JSON.stringify(name)}`,
      );
    },
  );

  it("refuses one character too many", () => {
    expect(define(`a${"b".repeat(64)}`)).toThrow("at most 63");
  });

  it.each([undefined, null, 5, {}, Symbol("a")])("refuses %s in place of a name", (name) => {
    expect(define(name)).toThrow(/^policy .*: name must be a letter/);
  });

  it("refuses a builder's wrong name, and names the algorithm where there is none", () => {
    expect(() => tokenBucket({ limit: 1, window: 1, name: "a b" })).toThrow('policy "a b": name');
    expect(() => tokenBucket({ limit: 0, window: 1 })).toThrow("token-bucket policy: limit must");
    expect(() => fixedWindow(undefined as never)).toThrow("fixed-window policy: limit must");
    expect(() => leakyBucket({ limit: 1, window: 1, queue: -1 })).toThrow(
      "leaky-bucket policy: queue must be an integer from 0, got -1",
    );
  });
});

describe("keys", () => {
  it.each([
    "ip",
    "user",
    "global",
    "constructor",
    "api_key2",
    ["user"],
    ["ip", "account"],
    { firstOf: ["user", "ip"] },
    { firstOf: [["user", "tenant"], "ip", "global"] },
  ])("accepts %j", (by) => {
    expect(definePolicy("api", { ...valid, by }).by).toEqual(by);
  });

  it.each([
    [""],
    ["1user"],
    ["user id"],
    ["user=1"],
    ["a".repeat(33)],
    [5],
    [null],
    [true],
    [[]],
    [["user", "user"]],
    [["user", "global"]],
    [["user", 5]],
    [[["user"]]],
    [new Array(1)],
    [[undefined, "user"]],
    [{}],
    [{ firstOf: [] }],
    [{ firstOf: "user" }],
    [{ firstOf: [[]] }],
    [{ firstOf: new Array(1) }],
    [{ firstOf: ["user", null] }],
    [{ firstOf: [{ firstOf: ["user"] }] }],
    [{ firstOf: ["user"], secret: true }],
    [() => "user"],
  ])("refuses %j", (by) => {
    expect(refusalOf({ ...valid, by })).toContain(
      'by must be an identity part such as "user", a list of different parts, { firstOf: [...] } or "global", got ',
    );
  });
});

test("a policy does not change when the data it was made from does", () => {
  const by = { firstOf: [["user", "tenant"], "ip"] };
  const input = { ...valid, limit: 5 as number, by };
  const policy = definePolicy("api", input);
  input.limit = 50;
  (by.firstOf[0] as string[]).push("account");
  by.firstOf.pop();
  expect(policy.limit).toBe(5);
  expect(policy.by).toEqual({ firstOf: [["user", "tenant"], "ip"] });
});
