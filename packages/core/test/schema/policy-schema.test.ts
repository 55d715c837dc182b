import fc from "fast-check";
import { describe, expect, expectTypeOf, it, test } from "vitest";
import type { z } from "zod";
import {
  fixedWindow,
  leakyBucket,
  slidingWindow,
  slidingWindowCounter,
  tokenBucket,
} from "../../src/policy/builders.js";
import { definePolicy } from "../../src/policy/define.js";
import type { Policy, PolicyDefinition } from "../../src/policy/policy.js";
import { policyFaults } from "../../src/policy/rules.js";
import {
  type PolicyEntry,
  type PolicyFile,
  policyFileJsonSchema,
  policyFileSchema,
  policySchema,
} from "../../src/schema/index.js";
import { policyFileShape, policyShape } from "../../src/schema/shape.js";

const issuesOf = (result: z.ZodSafeParseResult<unknown>) =>
  result.error?.issues.map(({ path, message }) => ({ path: path.join("."), message })) ?? [];

const window = "1m" as const;
const options = { limit: 10, window, by: ["user", "tenant"], localShare: 0.5 } as const;

describe("policySchema", () => {
  it("gives exactly what the builders give", () => {
    const parse = (entry: PolicyEntry) => policySchema.parse(entry);
    expect(parse({ algorithm: "fixed-window", ...options, anchor: "first-request" })).toEqual(
      fixedWindow({ ...options, anchor: "first-request" }),
    );
    expect(parse({ algorithm: "sliding-window", ...options })).toEqual(slidingWindow(options));
    expect(parse({ algorithm: "sliding-window-counter", ...options })).toEqual(
      slidingWindowCounter(options),
    );
    expect(parse({ algorithm: "token-bucket", ...options, burst: 3, name: "api" })).toEqual(
      tokenBucket({ ...options, burst: 3, name: "api" }),
    );
    expect(
      parse({
        algorithm: "leaky-bucket",
        limit: 10,
        windowMs: 60_000,
        queue: 1,
        maxDelayMs: 6_000,
      }),
    ).toEqual(leakyBucket({ limit: 10, window, queue: 1, maxDelayMs: 6_000 }));
  });

  it("gives a frozen policy", () => {
    const policy = policySchema.parse({ algorithm: "sliding-window", ...options });
    expect(Object.isFrozen(policy)).toBe(true);
    expect(Object.isFrozen(policy.by)).toBe(true);
  });

  it("lists every broken rule with the path of its field", () => {
    const entry = { algorithm: "token-bucket", limit: "5", window: 0, burst: 1.5, colour: "red" };
    expect(issuesOf(policySchema.safeParse(entry))).toEqual([
      { path: "colour", message: 'colour is not an option of token-bucket, got "red"' },
      { path: "limit", message: 'limit must be a positive integer, got "5"' },
      {
        path: "window",
        message:
          'window must be a positive whole number of milliseconds, or text like "10s", "1m", "24h", got 0',
      },
      { path: "burst", message: "burst must be a positive integer, got 1.5" },
    ]);
  });

  it("refuses a policy whose arithmetic would not be exact, naming the largest number", () => {
    const entry = { algorithm: "sliding-window-counter", limit: 2 ** 52, window: "1m" };
    expect(issuesOf(policySchema.safeParse(entry))).toEqual([
      { path: "limit", message: expect.stringContaining("at most 150119987579") },
    ]);
  });

  it.each([null, undefined, 5, "text", [], [{}]])("refuses %j in place of a policy", (value) => {
    expect(issuesOf(policySchema.safeParse(value))).toEqual([
      { path: "", message: "a policy must be an object" },
    ]);
  });
});

describe("policyFileSchema", () => {
  const entry = { algorithm: "token-bucket", limit: 100, window: "1m" };

  it("gives the policies under their names, frozen", () => {
    const file = policyFileSchema.parse(
      JSON.parse(JSON.stringify({ $schema: "./policies.schema.json", policies: { api: entry } })),
    );
    expect(file).toEqual({ policies: { api: definePolicy("api", entry) } });
    expect(Object.isFrozen(file.policies)).toBe(true);
  });

  it("lists the faults of all policies, each with its path", () => {
    const policies = {
      read: { ...entry, limit: 0 },
      write: { ...entry, burst: -1, queue: 3 },
      login: null,
      "no name": entry,
    };
    expect(issuesOf(policyFileSchema.safeParse({ policies, version: 1 }))).toEqual([
      { path: "version", message: "version is not an option of a policy file" },
      { path: "policies.read.limit", message: "limit must be a positive integer, got 0" },
      { path: "policies.write.queue", message: "queue is not an option of token-bucket, got 3" },
      { path: "policies.write.burst", message: "burst must be a positive integer, got -1" },
      { path: "policies.login", message: 'policy "login" must be an object' },
      { path: "policies.no name.name", message: expect.stringMatching(/^name must be a letter/) },
    ]);
  });

  it("does not lose a policy or a field called __proto__", () => {
    const parse = (text: string) => issuesOf(policyFileSchema.safeParse(JSON.parse(text)));
    expect(parse(`{"policies": {"__proto__": ${JSON.stringify(entry)}}}`)).toMatchObject([
      { path: "policies.__proto__.name" },
    ]);
    expect(
      parse(
        '{"policies": {"a": {"algorithm": "token-bucket", "limit": 1, "windowMs": 1, "__proto__": {}}}}',
      ),
    ).toMatchObject([{ path: "policies.a.__proto__" }]);
  });

  it.each([{}, { policies: {} }, { policies: [] }, { policies: null }, { policies: [entry] }])(
    "refuses %j",
    (file) => {
      expect(issuesOf(policyFileSchema.safeParse(file))).toEqual([
        { path: "policies", message: "policies must be an object with at least one policy" },
      ]);
    },
  );

  it.each([null, undefined, 5, "{}", []])("refuses %j in place of a file", (file) => {
    expect(issuesOf(policyFileSchema.safeParse(file))).toEqual([
      { path: "", message: "a policy file must be an object" },
    ]);
  });
});

describe("the JSON Schema for editors", () => {
  it("describes each algorithm with its own options", () => {
    const { policies } = policyFileJsonSchema().properties as {
      policies: { additionalProperties: { oneOf: { properties: object; required: string[] }[] } };
    };
    const forms = policies.additionalProperties.oneOf;
    expect(forms).toHaveLength(5);
    expect(Object.keys(forms[4]?.properties ?? {})).toContain("maxDelayMs");
    expect(forms[4]?.required).toEqual(["algorithm", "limit", "queue"]);
    expect(
      forms.every(
        (form) => (form as { additionalProperties?: boolean }).additionalProperties === false,
      ),
    ).toBe(true);
    expect(JSON.stringify(policies)).toContain(
      '"oneOf":[{"required":["window"]},{"required":["windowMs"]}]',
    );
  });

  // It may know less than the rules, never more: an editor must not complain of a right file.
  it("accepts whatever the rules accept", () => {
    const number = fc.oneof(fc.integer({ min: -2, max: 20 }), fc.constantFrom(1.5, "5", null));
    const entry = fc.record(
      {
        algorithm: fc.constantFrom(
          "fixed-window",
          "sliding-window",
          "sliding-window-counter",
          "token-bucket",
          "leaky-bucket",
        ),
        limit: number,
        windowMs: number,
        name: fc.constantFrom("api", "a b"),
        by: fc.constantFrom("ip", ["user", "ip"], { firstOf: ["user", ["a", "b"]] }, [], 5),
        onStoreFailure: fc.constantFrom("local", "open", "closed", "never"),
        localShare: fc.constantFrom(0.5, 1, 0, 2),
        anchor: fc.constantFrom("clock", "first-request", "none"),
        burst: number,
        queue: number,
        maxDelayMs: number,
        tiers: fc.constantFrom(
          { pro: { limit: 9 } },
          { pro: { limit: 9, burst: 2 }, free: { limit: 1 } },
          { pro: { limit: 9, queue: 0 } },
          { "a b": { limit: 9 } },
          {},
        ),
        count: fc.constantFrom("all", "failures", "successes", "none"),
        onSuccess: fc.constantFrom("refund", "clear", "no"),
        penalty: fc.constantFrom(
          { on: "manual" },
          { after: 3, within: "1m", ban: 5 },
          { on: "failures", after: 3, withinMs: 5, banMs: 5 },
          { on: "refusals", after: 0, within: "1m", ban: "1m" },
          { after: 3, within: "1m", withinMs: 5, ban: "1m" },
        ),
        debt: number,
        shadow: fc.constantFrom(true, false, "yes"),
        version: number,
        migrate: fc.constantFrom("keep", "scale", "reset", "copy"),
      },
      { requiredKeys: ["algorithm", "limit", "windowMs"] },
    );
    fc.assert(
      fc.property(entry, (input) => {
        if (policyFaults(input).length === 0)
          expect(policyShape.safeParse(input).success, JSON.stringify(input)).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });

  it("refuses what has the wrong form", () => {
    const accepts = (policy: object) =>
      policyFileShape.safeParse({ policies: { a: policy } }).success;
    const right = { algorithm: "token-bucket", limit: 1, window: "1s" };
    expect(accepts(right)).toBe(true);
    expect(accepts({ ...right, limit: "1" })).toBe(false);
    expect(accepts({ ...right, window: "1 s" })).toBe(false);
    expect(accepts({ ...right, queue: 1 })).toBe(false);
    expect(accepts({ ...right, tiers: { pro: { limit: 9, burst: 3 } } })).toBe(true);
    expect(accepts({ ...right, tiers: { pro: { limit: 9, queue: 3 } } })).toBe(false);
    expect(accepts({ ...right, tiers: { pro: { limit: 9, window: "1h" } } })).toBe(false);
    expect(accepts({ ...right, penalty: { after: 3, within: "1h", ban: "1d" } })).toBe(true);
    expect(accepts({ ...right, penalty: { after: 3, withinMs: 5, banMs: 5 } })).toBe(true);
    expect(accepts({ ...right, penalty: { after: 3, within: "1h", for: "1d" } })).toBe(false);
    expect(accepts({ ...right, migrate: "copy" })).toBe(false);
  });
});

test("input and output are the hand-written types", () => {
  expectTypeOf<z.input<typeof policySchema>>().toEqualTypeOf<PolicyEntry>();
  expectTypeOf<z.output<typeof policySchema>>().toEqualTypeOf<PolicyDefinition>();
  expectTypeOf<z.input<typeof policyFileSchema>>().toEqualTypeOf<PolicyFile>();
  expectTypeOf<z.output<typeof policyFileSchema>["policies"]>().toEqualTypeOf<
    Readonly<Record<string, Policy>>
  >();
  // Every builder's options are an entry's fields, so whoever can write one can write the other.
  type Options = Parameters<typeof leakyBucket>[0];
  expectTypeOf<Options & { algorithm: "leaky-bucket" }>().toExtend<PolicyEntry>();
  // @ts-expect-error a token bucket has no queue
  const wrong: PolicyEntry = { algorithm: "token-bucket", limit: 1, window: "1s", queue: 1 };
  expect(policySchema.safeParse(wrong).success).toBe(false);
});
