import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SuggestResult } from "../src/suggest/suggestion.js";
import * as bruteForce from "./brute-force.js";
import { Folder, traffic } from "./files.js";
import { headgate } from "./terminal.js";

const folder = new Folder();
const minute = 60_000;

/** The bare definition of each algorithm, with the numbers that `suggest` gives it. */
const models: Readonly<Record<string, (limit: number, windowMs: number) => bruteForce.Model>> = {
  "fixed-window": bruteForce.fixedWindow,
  "sliding-window": bruteForce.slidingWindow,
  "sliding-window-counter": bruteForce.slidingWindowCounter,
  "token-bucket": (limit, windowMs) => bruteForce.tokenBucket(limit, windowMs, limit),
  "leaky-bucket": (limit, windowMs) => bruteForce.leakyBucket(limit, windowMs, limit - 1),
};

async function suggested(...args: readonly string[]): Promise<SuggestResult> {
  const { code, out, errors } = await headgate(["suggest", "--json", ...args]);
  expect({ code, errors }).toEqual({ code: 0, errors: "" });
  return JSON.parse(out) as SuggestResult;
}

describe("suggest on the web log", async () => {
  const log = traffic("web-access.log.gz");
  const lines = bruteForce.linesOf(log);
  const clients = new Set(lines.map(({ client }) => client)).size;
  const ofClients = await suggested(log, "--refuse", "1%", "--algorithm", "all");
  const ofRequests = await suggested(log, "--refuse", "0.02", "--of", "requests");

  it.each(ofClients.suggestions)("$policy.algorithm at $limit is the smallest", (suggestion) => {
    const { policy, limit } = suggestion;
    const model = models[policy.algorithm] as (typeof models)[string];
    const enough = bruteForce.countBy(model(limit, minute), lines);
    const tooLow = bruteForce.countBy(model(limit - 1, minute), lines);
    expect(suggestion.clients).toEqual({ count: enough.clientsRefused, of: clients });
    expect(suggestion.requests.count).toBe(enough.refused);
    expect(enough.clientsRefused / clients).toBeLessThanOrEqual(0.01);
    expect(tooLow.clientsRefused / clients).toBeGreaterThan(0.01);
  });

  it("finds the smallest limit by requests", () => {
    const [{ limit } = { limit: 0 }] = ofRequests.suggestions;
    const shareAt = (tried: number): number =>
      bruteForce.countBy(bruteForce.fixedWindow(tried, minute), lines).refused / lines.length;
    expect(shareAt(limit)).toBeLessThanOrEqual(0.02);
    expect(shareAt(limit - 1)).toBeGreaterThan(0.02);
  });

  it("gives a curve whose every point is what the definition refuses", () => {
    const [{ curve } = { curve: [] }] = ofClients.suggestions;
    expect(curve.length).toBeGreaterThan(15);
    for (const point of curve) {
      const counted = bruteForce.countBy(bruteForce.fixedWindow(point.limit, minute), lines);
      expect(point.requests.count).toBe(counted.refused);
      expect(point.clients.count).toBe(counted.clientsRefused);
    }
  });
});

describe("what the search relies on", () => {
  it.each(Object.keys(models))("%s refuses no more under a higher limit", (name) => {
    const model = models[name] as (typeof models)[string];
    const arrivals = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 60 });
    const property = fc.property(
      arrivals,
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 15 }),
      (gaps, limit, windowMs) => {
        let nowMs = 1_000;
        const lines = gaps.map((gap) => {
          nowMs += gap < 25 ? 0 : gap - 25;
          return { timeMs: nowMs, client: "one", route: "" };
        });
        const refusedAt = (tried: number): number =>
          bruteForce.countBy(model(tried, windowMs), lines).refused;
        expect(refusedAt(limit + 1)).toBeLessThanOrEqual(refusedAt(limit));
      },
    );
    fc.assert(property, { numRuns: 300 });
  });
});

describe("suggest", () => {
  it("reads the standard input as often as it needs to", async () => {
    const line = (second: number): string =>
      `192.0.2.1 - - [01/Jan/2026:00:00:${String(second).padStart(2, "0")} +0000] "GET / HTTP/1.1" 200 1`;
    const input = Array.from({ length: 37 }, (_, second) => line(second)).join("\n");
    const { out } = await headgate(["suggest", "-", "--json", "--refuse", "0%"], { input });
    expect((JSON.parse(out) as SuggestResult).suggestions[0]?.limit).toBe(37);
  });

  it("answers limits far above those that it tries first", async () => {
    const lines = `192.0.2.1 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 1\n`.repeat(
      23_456,
    );
    const result = await suggested(folder.file(lines), "--refuse", "0%");
    expect(result.suggestions[0]).toMatchObject({ limit: 23_456, requests: { count: 0 } });
  });

  it("suggests 1 where that refuses nobody", async () => {
    const line = `192.0.2.1 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 1\n`;
    const result = await suggested(folder.file(line), "--algorithm", "all");
    expect(result.suggestions.map(({ limit }) => limit)).toEqual([1, 1, 1, 1, 1]);
  });

  it("prints policies that check accepts", async () => {
    const { out } = await headgate(["suggest", traffic("web-access.log.gz"), "--algorithm", "all"]);
    const file = folder.file(out.slice(out.indexOf("{"), out.lastIndexOf("}") + 1), "json");
    expect(await headgate(["check", file])).toMatchObject({ code: 0 });
  });

  it.each([
    [["--refuse", "all"], "--refuse"],
    [["--of", "people"], "--of"],
    [["--algorithm", "magic"], "--algorithm"],
    [["--window", "1 minute"], "--window"],
    [["--key", "user"], "counts by user"],
  ])("says what is wrong with %j", async (args, message) => {
    const { code, errors } = await headgate(["suggest", traffic("web-access.log.gz"), ...args]);
    expect(code).toBeGreaterThan(0);
    expect(errors).toContain(message);
  });
});
