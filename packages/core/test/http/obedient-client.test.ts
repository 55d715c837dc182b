import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RequestRecord } from "../../src/http/record.js";
import {
  fixedWindow,
  leakyBucket,
  slidingWindow,
  slidingWindowCounter,
  tokenBucket,
} from "../../src/policy/builders.js";
import type { PolicyDefinition } from "../../src/policy/policy.js";
import { guardOf, limiterOf } from "./guarded.js";
import { headersOf } from "./made.js";

interface Shape {
  readonly limit: number;
  readonly window: number;
}

const policyOf: Readonly<Record<string, (shape: Shape) => PolicyDefinition>> = {
  "fixed window": (shape) => fixedWindow(shape),
  "first-request window": (shape) => fixedWindow({ ...shape, anchor: "first-request" }),
  "sliding window": (shape) => slidingWindow(shape),
  "sliding window counter": (shape) => slidingWindowCounter(shape),
  "token bucket": (shape) => tokenBucket(shape),
  "leaky bucket": (shape) => leakyBucket({ ...shape, queue: 2, maxDelayMs: 60_000 }),
};

/** Every policy here has room for this. */
const dearest = 3;

const shapes = fc.record({
  limit: fc.integer({ min: dearest, max: 5 }),
  window: fc.integer({ min: 1_000, max: 9_999 }),
});
const mounts = fc.array(
  fc.record({ more: fc.boolean(), cost: fc.integer({ min: 0, max: dearest }) }),
  { minLength: 2, maxLength: 4 },
);
const pausesMs = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3_000 })), {
  minLength: 4,
  maxLength: 8,
});

describe.each(Object.entries(policyOf))("a client that waits as told, under a %s", (_, made) => {
  test("is refused again only further inside, where each mount names what the outer ones name", async () => {
    let refusals = 0;
    await fc.assert(
      fc.asyncProperty(fc.tuple(shapes, shapes), mounts, pausesMs, async (two, nested, pauses) => {
        const { clock, limiter } = limiterOf({ a: made(two[0]), b: tokenBucket(two[1]) });
        let names: readonly string[] = ["a"];
        const guards = nested.map(({ more, cost }) => {
          if (more) names = ["a", "b"];
          return guardOf(limiter, names, { cost });
        });
        /** The mount that refuses a request, and the wait that it tells. */
        const ask = async (): Promise<{ readonly mount: number; readonly waitMs: number }> => {
          const record = new RequestRecord();
          for (const [mount, admit] of guards.entries()) {
            const plan = await admit({}, record);
            if (plan.action === "reject")
              return { mount, waitMs: Number(headersOf(plan)["retry-after"]) * 1_000 };
          }
          return { mount: guards.length, waitMs: 0 };
        };
        for (const pauseMs of pauses) {
          clock.advance(pauseMs);
          for (let refusedBy = -1; refusedBy < guards.length; ) {
            const { mount, waitMs } = await ask();
            expect(mount).toBeGreaterThan(refusedBy);
            if (mount < guards.length) refusals += 1;
            refusedBy = mount;
            clock.advance(waitMs);
          }
        }
      }),
      { numRuns: 200 },
    );
    expect(refusals).toBeGreaterThan(0);
  });
});
