import {
  fixedWindow,
  leakyBucket,
  type PolicyDefinition,
  slidingWindow,
  slidingWindowCounter,
  tokenBucket,
} from "@headgate/core";
import { ManualClock } from "@headgate/core/testing";
import fc from "fast-check";
import request from "supertest";
import { describe, expect, test } from "vitest";
import { type Framework, frameworks, holdNoTime, listen, timed } from "./servers.js";

interface Shape {
  readonly limit: number;
  readonly windowMs: number;
}

const algorithms: readonly (readonly [string, (shape: Shape) => PolicyDefinition])[] = [
  ["fixed window", ({ limit, windowMs }) => fixedWindow({ limit, window: windowMs })],
  [
    "first-request window",
    ({ limit, windowMs }) => fixedWindow({ limit, window: windowMs, anchor: "first-request" }),
  ],
  ["sliding window", ({ limit, windowMs }) => slidingWindow({ limit, window: windowMs })],
  [
    "sliding window counter",
    ({ limit, windowMs }) => slidingWindowCounter({ limit, window: windowMs }),
  ],
  [
    "token bucket",
    ({ limit, windowMs }) => tokenBucket({ limit, window: windowMs, burst: limit + 1 }),
  ],
  ["leaky bucket", ({ limit, windowMs }) => leakyBucket({ limit, window: windowMs, queue: 1 })],
];

const shapes = fc.record({
  limit: fc.integer({ min: 1, max: 3 }),
  windowMs: fc.integer({ min: 1, max: 9_999 }),
});
const phases = fc.record({
  shape: shapes,
  startMs: fc.integer({ min: 1_700_000_000_000, max: 1_700_000_999_999 }),
  // Pauses before the calls: some within one instant, others anywhere in a window.
  pausesMs: fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 5_000 })), {
    minLength: 4,
    maxLength: 8,
  }),
});

async function serve(framework: Framework, policy: PolicyDefinition, startMs: number) {
  holdNoTime();
  const { clock, limit } = timed(policy, { clock: new ManualClock(startMs) });
  const app = framework().use(limit);
  app.get("/", (_request, response) => void response.end());
  const { server } = await listen(app);
  return { clock, get: () => request(server).get("/") };
}

describe.each(frameworks)("%s", (_, framework) => {
  describe.each(algorithms)(
    "a client that waits exactly Retry-After, under a %s",
    (_name, policyOf) => {
      test("T-6: is never refused twice in a row, whatever the phase", async () => {
        await fc.assert(
          fc.asyncProperty(phases, async ({ shape, startMs, pausesMs }) => {
            const { clock, get } = await serve(framework, policyOf(shape), startMs);
            let refusals = 0;
            for (const pauseMs of pausesMs) {
              clock.advance(pauseMs);
              const response = await get();
              if (response.status === 200) continue;
              refusals += 1;
              clock.advance(Number(response.headers["retry-after"]) * 1000);
              expect((await get()).status).toBe(200);
            }
            fc.pre(refusals > 0);
          }),
          { numRuns: 50 },
        );
      });

      test("T-5: is refused one instant earlier where the wait is whole seconds", async () => {
        const wholeSeconds = fc.record({
          limit: fc.constantFrom(1, 2),
          startSecond: fc.integer({ min: 1_700_000_000, max: 1_700_000_999 }),
          windowSeconds: fc.constantFrom(4, 8, 10),
        });
        await fc.assert(
          fc.asyncProperty(wholeSeconds, async ({ limit, startSecond, windowSeconds }) => {
            const policy = policyOf({ limit, windowMs: windowSeconds * 1000 });
            const { clock, get } = await serve(framework, policy, startSecond * 1000);
            let refused = await get();
            while (refused.status === 200) refused = await get();
            const seconds = Number(refused.headers["retry-after"]);
            clock.advance(seconds * 1000 - 1);
            const early = await get();
            expect([early.status, early.headers["retry-after"]]).toEqual([429, "1"]);
            clock.advance(1);
            expect((await get()).status).toBe(200);
          }),
          { numRuns: 50 },
        );
      });
    },
  );
});
