import { describe, expect, it, test } from "vitest";
import {
  fixedWindow,
  leakyBucket,
  slidingWindow,
  slidingWindowCounter,
  tokenBucket,
} from "../../src/policy/builders.js";
import { definePolicy } from "../../src/policy/define.js";
import { type Duration, durationMs } from "../../src/policy/duration.js";
import { algorithms, example, valid } from "./faults.js";

const defaults = {
  by: "ip",
  onStoreFailure: "local",
  localShare: 1,
  count: "all",
  onSuccess: "refund",
  debt: 0,
  shadow: false,
  version: 1,
  migrate: "keep",
} as const;

describe("defaults", () => {
  const options = { limit: 10, window: "1m" } as const;
  it.each([
    [fixedWindow(options), { algorithm: "fixed-window", anchor: "clock" }],
    [slidingWindow(options), { algorithm: "sliding-window" }],
    [slidingWindowCounter(options), { algorithm: "sliding-window-counter" }],
    [tokenBucket(options), { algorithm: "token-bucket", burst: 10 }],
    [
      leakyBucket({ ...options, queue: 1 }),
      { algorithm: "leaky-bucket", queue: 1, maxDelayMs: 10_000 },
    ],
  ])("a builder resolves them", (policy, own) => {
    expect(policy).toEqual({ limit: 10, windowMs: 60_000, ...defaults, ...own });
  });

  it("an option that is undefined counts as left out", () => {
    const unset = { by: undefined, onStoreFailure: undefined, localShare: undefined };
    expect(definePolicy("api", { ...valid, ...unset, burst: undefined })).toEqual(
      definePolicy("api", valid),
    );
  });
});

describe("durations", () => {
  it.each<[Duration, number]>([
    [1, 1],
    [250, 250],
    ["1ms", 1],
    ["10s", 10_000],
    ["1m", 60_000],
    ["24h", 86_400_000],
    ["30d", 2_592_000_000],
    ["007s", 7_000],
  ])("%s is %d ms", (window, windowMs) => {
    expect(tokenBucket({ limit: 1, window }).windowMs).toBe(windowMs);
  });

  it.each([
    "",
    "s",
    "10",
    "10 s",
    " 10s",
    "10s ",
    "10S",
    "1.5s",
    "-1s",
    "+1s",
    "1e3s",
    "10s\n",
    "1w",
    "1m30s",
    "١s",
  ])("%j is none", (text) => {
    expect(durationMs(text)).toBeUndefined();
  });

  it.each(["0s", "0ms", "999999999999999d"])("%s is none that a policy takes", (window) => {
    expect(() => tokenBucket({ limit: 1, window: window as Duration })).toThrow(
      `window must be a positive whole number of milliseconds, or text like "10s", "1m", "24h", got "${window}"`,
    );
  });
});

describe.each(algorithms)("a policy of %s", (algorithm) => {
  const by = { firstOf: [["user", "tenant"], "ip"] };
  const policy = definePolicy("api", { ...example(algorithm), by });

  it("is frozen, and so is all that it holds", () => {
    const frozen = (value: unknown): boolean =>
      typeof value !== "object" ||
      value === null ||
      (Object.isFrozen(value) && Object.values(value).every(frozen));
    expect(frozen(policy)).toBe(true);
    expect(() => {
      (policy as { limit: number }).limit = 1_000;
    }).toThrow(TypeError);
  });

  it("survives JSON unchanged, and is a valid policy afterwards", () => {
    const read = JSON.parse(JSON.stringify(policy));
    expect(read).toEqual(policy);
    expect(definePolicy("api", read)).toEqual(policy);
  });
});

test("a policy without its name is defined under the name it is registered with", () => {
  const anonymous = tokenBucket({ limit: 5, window: "1s" });
  expect("name" in anonymous).toBe(false);
  expect(definePolicy("api", anonymous)).toEqual({ ...anonymous, name: "api" });
});

test("the name it is registered with wins over the policy's own", () => {
  const named = tokenBucket({ limit: 5, window: "1s", name: "own" });
  expect(named.name).toBe("own");
  expect(definePolicy("api", named).name).toBe("api");
});
