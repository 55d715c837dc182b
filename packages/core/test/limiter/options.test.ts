import { describe, expect, it } from "vitest";
import { HeadgateError } from "../../src/errors.js";
import { createLimiter } from "../../src/limiter/limiter.js";
import { tokenBucket } from "../../src/policy/builders.js";
import { memoryStore } from "../../src/store/memory/memory-store.js";

const policies = { api: tokenBucket({ limit: 1, window: "1s" }) };
const make = (options: unknown) => () => createLimiter(options as never);

const wrong: readonly (readonly [options: unknown, message: string])[] = [
  [undefined, "createLimiter: options must be an object, got undefined"],
  [null, "createLimiter: options must be an object, got null"],
  [
    { policies, deadline: 5 },
    "createLimiter: deadline is not an option (known: policies, store, clock, deadlineMs, secretParts, onStoreError), got 5",
  ],
  ...[undefined, null, {}, [], 5].map(
    (value) =>
      [
        { policies: value },
        "createLimiter: policies must be an object with at least one policy, got ",
      ] as const,
  ),
  ...[0, -1, 1.5, Number.NaN, Infinity, "200", null, 2 ** 31].map(
    (deadlineMs) =>
      [
        { policies, deadlineMs },
        `createLimiter: deadlineMs must be an integer from 1 to 2147483647, got ${JSON.stringify(deadlineMs) === "null" ? String(deadlineMs) : JSON.stringify(deadlineMs)}`,
      ] as const,
  ),
  ...[null, {}, { get: () => 1 }, "redis://localhost", { kind: "redis" }, memoryStore].map(
    (store) =>
      [
        { policies, store },
        "createLimiter: store must be a store, such as memoryStore(), got ",
      ] as const,
  ),
  ...[null, {}, Date.now, 5].map(
    (clock) =>
      [
        { policies, clock },
        "createLimiter: clock must be an object with a method now(), got ",
      ] as const,
  ),
  ...["apiKey", ["api key"], [""], [5], {}, null].map(
    (secretParts) =>
      [
        { policies, secretParts },
        "createLimiter: secretParts must be a list of identity parts, got ",
      ] as const,
  ),
  ...["log", {}, null].map(
    (onStoreError) =>
      [{ policies, onStoreError }, "createLimiter: onStoreError must be a function, got "] as const,
  ),
];

describe("createLimiter", () => {
  it.each(wrong)("refuses %j", (options, message) => {
    expect(make(options)).toThrow(HeadgateError);
    expect(make(options)).toThrow(message);
  });

  it.each([1, 2 ** 31 - 1])("accepts a deadline of %d ms", (deadlineMs) => {
    expect(make({ policies, deadlineMs })).not.toThrow();
  });

  it("refuses a wrong policy by its name, as the builder does", () => {
    expect(
      make({ policies: { api: { algorithm: "token-bucket", limit: 0, window: "1s" } } }),
    ).toThrow('policy "api": limit must be a positive integer, got 0');
    expect(make({ policies: { "my api": policies.api } })).toThrow('policy "my api": name must be');
    expect(make({ policies: { api: null } })).toThrow('policy "api": algorithm must be one of');
  });
});
