import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ReplayResult } from "../src/replay/result.js";
import * as bruteForce from "./brute-force.js";
import { Folder } from "./files.js";
import { headgate } from "./terminal.js";

const folder = new Folder();
const startMs = Date.UTC(2026, 0, 1);

interface Numbers {
  readonly limit: number;
  readonly windowMs: number;
  readonly room: number;
}

const algorithms: Readonly<
  Record<string, { own: (room: number) => object; model: (numbers: Numbers) => bruteForce.Model }>
> = {
  "fixed-window": {
    own: () => ({}),
    model: ({ limit, windowMs }) => bruteForce.fixedWindow(limit, windowMs),
  },
  "sliding-window": {
    own: () => ({}),
    model: ({ limit, windowMs }) => bruteForce.slidingWindow(limit, windowMs),
  },
  "sliding-window-counter": {
    own: () => ({}),
    model: ({ limit, windowMs }) => bruteForce.slidingWindowCounter(limit, windowMs),
  },
  "token-bucket": {
    own: (room) => ({ burst: room }),
    model: ({ limit, windowMs, room }) => bruteForce.tokenBucket(limit, windowMs, room),
  },
  "leaky-bucket": {
    own: (room) => ({ queue: room - 1, maxDelayMs: 2 ** 31 - 1 }),
    model: ({ limit, windowMs, room }) => bruteForce.leakyBucket(limit, windowMs, room - 1),
  },
};

describe("random logs, out of order and in several files", () => {
  it.each(Object.keys(algorithms))("are decided by the definition of %s", async (algorithm) => {
    const { own, model } = algorithms[algorithm] as (typeof algorithms)[string];
    const requests = fc.array(
      fc.record({ gapMs: fc.nat(3_000), client: fc.nat(2), file: fc.nat(2), lagMs: fc.nat(900) }),
      { minLength: 1, maxLength: 80 },
    );
    const property = fc.asyncProperty(
      requests,
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 9_000 }),
      fc.integer({ min: 1, max: 6 }),
      async (made, limit, windowMs, room) => {
        let nowMs = startMs;
        const lines = made.map(({ gapMs, client, file, lagMs }) => {
          // Never two at once, since files have no order among each other then.
          nowMs += gapMs + 1;
          return {
            timeMs: nowMs,
            client: `192.0.2.${client}`,
            route: "",
            file,
            writtenMs: nowMs + lagMs,
          };
        });
        const written = lines.toSorted((a, b) => a.writtenMs - b.writtenMs);
        const logs = [0, 1, 2].map((number) => {
          const own = written.filter(({ file }) => file === number);
          return folder.file(
            own
              .map(({ timeMs, client }) => JSON.stringify({ time: timeMs, ip: client }))
              .join("\n"),
          );
        });
        const policies = folder.policies({ one: { algorithm, limit, windowMs, ...own(room) } });
        const { out, errors } = await headgate([
          "replay",
          ...logs,
          "--policies",
          policies,
          "--json",
        ]);
        expect(errors).toBe("");
        const { policies: found, input } = JSON.parse(out) as ReplayResult;
        const expected = bruteForce.countBy(model({ limit, windowMs, room }), lines);
        expect(input).toMatchObject({ requests: lines.length, late: 0 });
        expect(found[0]).toMatchObject({
          requests: { count: expected.refused },
          clients: { count: expected.clientsRefused },
        });
        expect(found[0]?.longestWait?.ms ?? 0).toBe(expected.longestWaitMs);
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });
});
