import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Policy } from "../../src/policy/policy.js";
import { policyFileJsonSchema, policyFileSchema, readPolicies } from "../../src/schema/index.js";
import { policyFileShape } from "../../src/schema/shape.js";

const login = {
  algorithm: "fixed-window",
  limit: 5,
  window: "15m",
  by: ["ip", "account"],
  count: "failures",
  onSuccess: "clear",
  penalty: { on: "failures", after: 10, within: "1h", ban: "1d" },
} as const;
const reads = {
  algorithm: "token-bucket",
  limit: 60,
  window: "1m",
  burst: 10,
  tiers: { pro: { limit: 600 }, bulk: { limit: 6, burst: 600 } },
  version: 3,
  migrate: "scale",
} as const;

describe("a policy file", () => {
  it("holds all that policies can have, and reads the same again", () => {
    const policies = readPolicies({ policies: { login, reads } });
    expect(policies.login).toMatchObject({
      name: "login",
      count: "failures",
      penalty: { on: "failures", after: 10, withinMs: 3_600_000, banMs: 86_400_000 },
    });
    expect(policies.reads?.tiers).toEqual({
      pro: { limit: 600, burst: 10 },
      bulk: { limit: 6, burst: 600 },
    });
    const again = JSON.parse(JSON.stringify({ policies }));
    expect(readPolicies(again)).toEqual(policies);
    expect(policyFileShape.safeParse(again).error).toBeUndefined();
  });

  it("with five faults gives five paths", () => {
    const file = {
      policies: {
        login: { ...login, penalty: { ...login.penalty, after: 0 }, colour: "red" },
        reads: { ...reads, tiers: { pro: { limit: -1 } }, migrate: "copy" },
        "no name": { algorithm: "sliding-window", limit: 1, window: "1m" },
      },
    };
    const { error } = policyFileSchema.safeParse(file);
    expect(error?.issues.map(({ path }) => path.join("."))).toEqual([
      "policies.login.colour",
      "policies.login.penalty.after",
      "policies.reads.migrate",
      "policies.reads.tiers.pro.limit",
      "policies.no name.name",
    ]);
    expect(() => readPolicies(file)).toThrow(
      expect.objectContaining({
        code: "INVALID_POLICY",
        message: expect.stringContaining(
          "policies.login.penalty.after: penalty.after must be a positive integer, got 0\n",
        ),
      }),
    );
  });

  it("is read from its text as well, and told where that is no JSON", () => {
    const text = JSON.stringify({ policies: { login } }, null, 2);
    expect(readPolicies(text)).toEqual(readPolicies({ policies: { login } }));
    expect(readPolicies(`\ufeff${text}`)).toEqual(readPolicies(text));
    for (const wrong of ["", "{", "policies: 5"])
      expect(() => readPolicies(wrong)).toThrow(
        expect.objectContaining({
          code: "INVALID_POLICY",
          message: expect.stringMatching(/^policy file: must be JSON: /),
          cause: expect.any(SyntaxError),
        }),
      );
    expect(() => readPolicies("[]")).toThrow("policy file:\na policy file must be an object");
  });

  it("may name tiers and policies like members of objects, and nothing else of objects is taken", () => {
    const nasty = '{"tiers": {"constructor": {"limit": 9}, "toString": {"limit": 8}}';
    const text = `{"policies": {"valueOf": ${nasty}, "algorithm": "sliding-window", "limit": 5, "window": "1m"}}}`;
    const [policy] = Object.values<Policy>(readPolicies(text));
    expect(Object.entries(policy?.tiers ?? {})).toEqual([
      ["constructor", { limit: 9 }],
      ["toString", { limit: 8 }],
    ]);
    for (const name of ["__proto__", "a b", "1a", ""])
      expect(() => readPolicies(text.replace('"toString"', JSON.stringify(name)))).toThrow(
        "policies.valueOf.tiers: tiers must have names of letters, digits and _, got",
      );
    expect(() => readPolicies(text.replace('"valueOf"', '"__proto__"'))).toThrow(
      "policies.__proto__.name: name must be a letter",
    );
    expect(({} as Record<string, unknown>).limit).toBeUndefined();
  });

  it.each([
    [{ ...login, penalty: 5 }, "penalty"],
    [{ ...login, penalty: { after: 3, within: "1h" } }, "penalty.ban"],
    [{ ...login, penalty: { ...login.penalty, on: "sundays" } }, "penalty.on"],
    [{ ...login, penalty: { ...login.penalty, withinMs: 5 } }, "penalty.within"],
    [{ ...login, penalty: { ...login.penalty, for: "ever" } }, "penalty.for"],
    [{ ...login, count: "some" }, "count"],
    [{ ...login, onSuccess: "cheer" }, "onSuccess"],
    [{ ...login, debt: -1 }, "debt"],
    [{ ...login, shadow: "yes" }, "shadow"],
    [{ ...login, version: 0 }, "version"],
    [{ ...login, tiers: {} }, "tiers"],
    [{ ...login, tiers: { "no tier": { limit: 1 } } }, "tiers"],
    [{ ...login, tiers: { pro: { limit: 1, burst: 2 } } }, "tiers.pro.burst"],
    [{ ...login, tiers: { pro: {} } }, "tiers.pro.limit"],
    [{ ...login, tiers: { pro: 5 } }, "tiers.pro.limit"],
    [{ ...login, tiers: { pro: { limit: 2 ** 53 - 1 } } }, "tiers.pro.limit"],
  ])("refuses %j at %s", (policy, at) => {
    const { error } = policyFileSchema.safeParse({ policies: { login: policy } });
    expect(error?.issues.map(({ path }) => path.slice(2).join("."))).toEqual([at]);
  });

  it("needs no other fields of a penalty that is for bans by hand alone", () => {
    const { login: policy } = readPolicies({
      policies: { login: { ...login, penalty: { on: "manual" } } },
    });
    expect(policy?.penalty).toMatchObject({ on: "manual" });
  });

  it("has a JSON Schema for editors, which is shipped as it is now", () => {
    const shipped = new URL("../../policies.schema.json", import.meta.url);
    expect(
      JSON.parse(readFileSync(shipped, "utf8")),
      "run: npm run build && node packages/core/scripts/write-schema.mjs",
    ).toEqual(JSON.parse(JSON.stringify(policyFileJsonSchema())));
  });
});
