import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { ReplayResult } from "../src/replay/result.js";
import { Folder, traffic } from "./files.js";
import { headgate } from "./terminal.js";

const folder = new Folder();
const web = traffic("web-access.log.gz");

describe("check", () => {
  const words: readonly (readonly [object, string])[] = [
    [
      {
        algorithm: "token-bucket",
        limit: 100,
        window: "1m",
        burst: 20,
        by: "user",
        onStoreFailure: "closed",
      },
      "100 per minute per user, bursts up to 20, refuses when Redis is down",
    ],
    [
      {
        algorithm: "fixed-window",
        limit: 10_000,
        window: "24h",
        by: "global",
        onStoreFailure: "open",
      },
      "10,000 per day for everybody together, anew with each window of the clock, lets everything through when Redis is down",
    ],
    [
      {
        algorithm: "fixed-window",
        limit: 1,
        window: "90s",
        anchor: "first-request",
        localShare: 0.25,
      },
      "1 per 90 seconds per ip, anew with each window, which the first request opens, each process grants 25 % by itself when Redis is down",
    ],
    [
      {
        algorithm: "leaky-bucket",
        limit: 2,
        window: "1s",
        queue: 4,
        by: { firstOf: ["user", ["ip", "route"]] },
      },
      "2 per second per user, else ip and route, evenly spaced, up to 4 wait for 2 s at most, each process counts by itself when Redis is down",
    ],
    [
      { algorithm: "leaky-bucket", limit: 2, window: "1s", queue: 0, shadow: true },
      "2 per second per ip, evenly spaced, none may wait, each process counts by itself when Redis is down, only watched, never enforced",
    ],
    [
      {
        algorithm: "sliding-window",
        limit: 5,
        window: "15m",
        by: ["ip", "account"],
        count: "failures",
        onSuccess: "clear",
        penalty: { after: 3, within: "1h", ban: "1d" },
        version: 2,
        migrate: "scale",
      },
      "5 failures per 15 minutes per ip and account, in any stretch of that length, a success clears the count, bans for 1 day after 3 refusals within 1 hour, each process counts by itself when Redis is down, version 2, which scales what was counted before",
    ],
    [
      {
        algorithm: "token-bucket",
        limit: 60,
        window: "1m",
        burst: 10,
        debt: 500,
        tiers: { pro: { limit: 600 }, max: { limit: 6_000, burst: 50 } },
      },
      "60 per minute per ip, bursts up to 10, 600 per minute for tier pro (bursts up to 10), 6,000 per minute for tier max (bursts up to 50), may be settled up to 500 beyond it, each process counts by itself when Redis is down",
    ],
  ];

  it.each(words)("says %j in words", async (policy, said) => {
    const { code, out } = await headgate(["check", folder.policies({ api: policy })]);
    expect({ code, said: out.split("\n")[1] }).toEqual({ code: 0, said: `  api: ${said}` });
  });

  it("names every fault with its path, and exits with 1", async () => {
    const file = folder.policies({
      api: { algorithm: "token-bucket", limit: 0, window: "1 minute", color: "red" },
      "2nd": { algorithm: "magic", limit: 5, window: "1m" },
      login: {
        algorithm: "fixed-window",
        limit: 5,
        window: "1m",
        penalty: { after: 0, within: "1m", ban: "1h" },
      },
      none: 7,
    });
    const { code, out } = await headgate(["check", file]);
    expect(code).toBe(1);
    expect(out).toContain(": 7 faults\n");
    for (const path of [
      "api.limit",
      "api.window",
      "api.color",
      "2nd.name",
      "2nd.algorithm",
      "login.penalty.after",
      "none",
    ])
      expect(out).toContain(`  policies.${path}: `);
  });

  it.each([
    ["no JSON", "{", "is no JSON"],
    ["a list", "[]", "must be an object"],
    ["no policies", "{}", "policies must be an object with at least one policy"],
  ])("refuses a file that is %s", async (_, content, message) => {
    const { code, out } = await headgate(["check", folder.file(content, "json")]);
    expect({ code, out }).toEqual({ code: 1, out: expect.stringContaining(message) });
  });

  it("prints the same as JSON", async () => {
    const right = folder.policies({ api: { algorithm: "fixed-window", limit: 5, window: "1m" } });
    const wrong = folder.policies({ api: { algorithm: "fixed-window", limit: 0, window: "1m" } });
    const { code, out } = await headgate(["check", right, wrong, "--json"]);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject([
      { faults: [], policies: [{ name: "api", limit: 5, words: expect.any(String) }] },
      {
        faults: [
          { path: "policies.api.limit", message: "limit must be a positive integer, got 0" },
        ],
        policies: [],
      },
    ]);
  });
});

describe("replay", () => {
  const policies = folder.policies({
    api: { algorithm: "token-bucket", limit: 20, window: "1m", by: "ip" },
    queue: { algorithm: "leaky-bucket", limit: 20, window: "1m", queue: 3 },
    trial: { algorithm: "fixed-window", limit: 10, window: "1m", shadow: true },
  });

  async function replayed(...options: readonly string[]): Promise<ReplayResult> {
    const { out, errors } = await headgate([
      "replay",
      web,
      "--policies",
      policies,
      "--json",
      ...options,
    ]);
    expect(errors).toBe("");
    return JSON.parse(out) as ReplayResult;
  }

  it("tries each policy under a sweep of limits and under each algorithm", async () => {
    const result = await replayed("--policy", "api", "--sweep", "10,20,40", "--algorithms");
    expect(result.policies.map(({ label }) => label)).toEqual([
      "api",
      "api at 10",
      "api at 40",
      "api as fixed-window",
      "api as sliding-window",
      "api as sliding-window-counter",
      "api as leaky-bucket",
    ]);
    const refused = (label: string): number =>
      result.policies.find((policy) => policy.label === label)?.requests.count ?? 0;
    expect(refused("api at 10")).toBeGreaterThan(refused("api"));
    expect(refused("api")).toBeGreaterThan(refused("api at 40"));
  });

  it("decides a shadow policy as if it were enforced", async () => {
    const { policies: found } = await replayed("--policy", "trial");
    expect(found[0]?.requests.count).toBeGreaterThan(1_000);
  });

  it("tells how long a queue would have held requests", async () => {
    const { policies: found } = await replayed("--policy", "queue");
    expect(found[0]).toMatchObject({ longestHold: { ms: 9_000 } });
    expect(found[0]?.held).toBeGreaterThan(1_000);
  });

  it("says when its store was too small to remember all clients", async () => {
    const { policies: found, keys } = await replayed("--policy", "api", "--max-keys", "10");
    expect(found[0]?.storeWasFull).toBe(true);
    expect(keys[0]?.exact).toBe(false);
  });

  it("prints a table for people", async () => {
    const { code, out, errors } = await headgate(["replay", web, "--policies", policies]);
    expect({ code, errors }).toEqual({ code: 0, errors: "" });
    expect(out).toMatch(/^10,000 requests from 2015-05-17 10:05:00Z to 2015-05-20 21:05:59Z/);
    expect(out).toMatch(/\n1,753 clients by ip\n/);
    expect(out).toMatch(/\napi +token-bucket +20 \/ minute +\d+ +[\d.]+ % +\d+ +[\d.]+ % +3 s\n/);
    expect(out).toMatch(/lines per second; peak memory \d+ MB\n$/);
    expect(
      Math.max(
        ...out
          .split("\n")
          .slice(0, 9)
          .map(({ length }) => length),
      ),
    ).toBeLessThan(120);
  });

  it("shows progress on a terminal alone", async () => {
    const args = ["replay", web, "--policies", policies];
    const { errors } = await headgate(args, { isTTY: true });
    expect(errors).toContain("lines per second".slice(0, 5));
    expect(errors.endsWith("\r\x1b[K")).toBe(true);
    expect((await headgate(args)).errors).toBe("");
  });
});

describe("the command", () => {
  const bin = fileURLToPath(new URL("../bin/headgate.js", import.meta.url));

  it("tells its version", () => {
    expect(execFileSync(process.execPath, [bin, "--version"], { encoding: "utf8" })).toMatch(
      /^\d+\.\d+\.\d+\n$/,
    );
  });

  it("ends quietly when nobody reads its output any more", async () => {
    const policies = folder.policies({
      api: { algorithm: "fixed-window", limit: 5, window: "1m" },
    });
    const args = [bin, "replay", web, "--policies", policies, "--json"];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.destroy();
    let errors = "";
    child.stderr.on("data", (text) => {
      errors += text;
    });
    const [code] = await once(child, "close");
    expect({ code, errors }).toEqual({ code: 0, errors: "" });
  });

  it("measures its speed on a log that it writes", () => {
    const script = fileURLToPath(new URL("../scripts/speed.mjs", import.meta.url));
    const out = execFileSync(process.execPath, [script, "20000"], { encoding: "utf8" });
    expect(out).toMatch(/^20000 lines[\s\S]*\n\d+ lines per second\n\d+ MB peak memory\n$/);
  });
});

describe("a wrong use", () => {
  it.each([
    [["replay"], "name a log"],
    [["replay", web], "--policies FILE is missing"],
    [["replay", web, "--policies", "none.json"], "cannot be read"],
    [["replay", web, "--polices", "x.json"], "--polices"],
    [["suggest"], "name a log"],
    [["check"], "name a policy file"],
    [["chekc"], "is not a command"],
    [["suggest", web, "--reorder", "soon"], "--reorder"],
    [["suggest", web, "--max-keys", "0"], "--max-keys"],
    [["suggest", web, "--field", "account"], "--field"],
    [["suggest", web, "--salt", "x"], "--salt"],
  ])("%j is told in one line", async (args, message) => {
    const { code, out, errors } = await headgate(args);
    expect({ out, lines: errors.trim().split("\n").length }).toEqual({ out: "", lines: 1 });
    expect(code).toBeGreaterThan(0);
    expect(errors).toContain(message);
  });

  it.each([["help"], ["replay", "--help"], ["suggest", "-h"], ["check", "--help"]])(
    "%s %s helps",
    async (...args) => {
      const { code, out } = await headgate(args);
      expect(code).toBe(0);
      expect(out).toContain(`headgate ${args[0] === "help" ? "replay" : args[0]}`);
    },
  );
});
