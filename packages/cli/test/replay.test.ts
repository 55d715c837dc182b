import { describe, expect, it } from "vitest";
import type { ReplayResult } from "../src/replay/result.js";
import * as bruteForce from "./brute-force.js";
import { Folder, traffic } from "./files.js";
import { headgate } from "./terminal.js";

const folder = new Folder();
const log = traffic("web-access.log.gz");
const [second, minute] = [1_000, 60_000];

/** A policy of each algorithm, and the same by its bare definition. */
const trials: Readonly<Record<string, { policy: object; model: bruteForce.Model }>> = {
  fixed: {
    policy: { algorithm: "fixed-window", limit: 6, window: "10s" },
    model: bruteForce.fixedWindow(6, 10 * second),
  },
  sliding: {
    policy: { algorithm: "sliding-window", limit: 25, window: "90m" },
    model: bruteForce.slidingWindow(25, 90 * minute),
  },
  counter: {
    policy: { algorithm: "sliding-window-counter", limit: 5, window: "10s" },
    model: bruteForce.slidingWindowCounter(5, 10 * second),
  },
  token: {
    policy: { algorithm: "token-bucket", limit: 7, window: "1m", burst: 12 },
    model: bruteForce.tokenBucket(7, minute, 12),
  },
  leaky: {
    policy: { algorithm: "leaky-bucket", limit: 40, window: "1m", queue: 6 },
    model: bruteForce.leakyBucket(40, minute, 6),
  },
};

async function replayed(...more: readonly string[]): Promise<ReplayResult> {
  const policies = Object.entries(trials).map(([name, { policy }]) => [name, policy] as const);
  const file = folder.policies(Object.fromEntries(policies));
  const args = ["replay", log, "--policies", file, "--json", "--show-clients", ...more];
  const { code, out, errors } = await headgate(args);
  expect({ code, errors }).toEqual({ code: 0, errors: "" });
  return JSON.parse(out) as ReplayResult;
}

describe("a replay of the web log under five policies", async () => {
  const result = await replayed();
  const lines = bruteForce.linesOf(log);

  it("counts requests and clients", () => {
    expect(result.input.requests).toBe(lines.length);
    expect(result.keys).toMatchObject([
      { by: "ip", clients: new Set(lines.map(({ client }) => client)).size, exact: true },
    ]);
  });

  describe.each(Object.entries(trials))("under %s", (name, { model }) => {
    const expected = bruteForce.countBy(model, lines);
    const found = result.policies.find(({ label }) => label === name);
    if (found === undefined) throw new Error(`no result for ${name}`);

    it("refuses as many requests as the definition does", () => {
      expect(expected.refused).toBeGreaterThan(100);
      expect(found.requests).toEqual({ count: expected.refused, of: lines.length });
    });

    it("refuses as many clients", () => {
      expect(found.clients.count).toBe(expected.clientsRefused);
    });

    it("tells the longest wait", () => {
      expect(found.longestWait?.ms).toBe(expected.longestWaitMs);
    });

    it("tells the worst clients", () => {
      const counts = expected.byClient.map(([, count]) => count);
      expect(found.worstClients.map(({ refused }) => refused)).toEqual(counts.slice(0, 10));
      const byClient = new Map(expected.byClient);
      for (const { client, refused } of found.worstClients)
        expect(byClient.get(client.replace("ip=", ""))).toBe(refused);
    });

    it("tells when", () => {
      const { startAt, widthMs } = result.spans;
      const counts = result.spans.requests.map(() => 0);
      for (const atMs of expected.refusedAtMs) {
        const span = Math.floor((atMs - Date.parse(startAt)) / widthMs);
        counts[span] = (counts[span] ?? 0) + 1;
      }
      expect(found.refusedBySpan).toEqual(counts);
    });

    it("tells the routes", () => {
      expect(found.routes.length).toBe(10);
      for (const { route, refused } of found.routes)
        if (!route.includes(":id")) expect(refused).toBe(expected.byRoute.get(route));
    });
  });
});
