import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { PolicyResult, ReplayResult } from "../src/replay/result.js";
import { Folder, traffic } from "./files.js";
import { headgate } from "./terminal.js";

const folder = new Folder();
const log = traffic("logins.jsonl.gz");
const windowMs = 15 * 60_000;
const most = 5;

interface Attempt {
  readonly time: string;
  readonly ip: string;
  readonly user: string;
  readonly ok: boolean;
}

/** Attempts by the bare rule, in order: five failures in 15 minutes of one address and account, then none. */
function byTheRule(attempts: readonly Attempt[], onSuccess: "refund" | "clear") {
  const counted = new Map<string, number[]>();
  const runs = new Map<string, { failures: number; refused: number }[]>();
  const refusedSuccesses: { at: string; failuresBefore: number }[] = [];
  let failuresRefused = 0;
  for (const { time, ip, user, ok } of attempts) {
    const key = `${ip} ${user}`;
    const nowMs = Date.parse(time);
    const failures = (counted.get(key) ?? []).filter((failure) => failure > nowMs - windowMs);
    const refused = failures.length >= most;
    const ofKey = runs.get(key) ?? [{ failures: 0, refused: 0 }];
    const run = ofKey.at(-1) as (typeof ofKey)[number];
    runs.set(key, ofKey);
    if (ok && refused) refusedSuccesses.push({ at: time, failuresBefore: run.failures });
    if (!ok && refused) failuresRefused += 1;
    if (!ok && !refused) failures.push(nowMs);
    counted.set(key, ok && !refused && onSuccess === "clear" ? [] : failures);
    if (ok) ofKey.push({ failures: 0, refused: 0 });
    else run.failures += 1;
    if (!ok && refused) run.refused += 1;
  }
  const long = [...runs.values()].flat().filter(({ failures }) => failures >= 10);
  return { failuresRefused, refusedSuccesses, runs: long };
}

async function replayed(policy: object): Promise<PolicyResult> {
  const policies = folder.policies({ login: policy });
  const fields = ["--field", "account=user", "--failed", "ok=false"];
  const args = ["replay", log, "--policies", policies, ...fields, "--json", "--show-clients"];
  const { code, out, errors } = await headgate(args);
  expect({ code, errors }).toEqual({ code: 0, errors: "" });
  return (JSON.parse(out) as ReplayResult).policies[0] as PolicyResult;
}

describe.each(["refund", "clear"] as const)("a login policy (success: %s)", async (onSuccess) => {
  const attempts = gunzipSync(readFileSync(log))
    .toString()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Attempt);
  const expected = byTheRule(attempts, onSuccess);
  const result = await replayed({
    algorithm: "sliding-window",
    limit: most,
    window: "15m",
    by: ["ip", "account"],
    count: "failures",
    onSuccess,
  });
  const found = result.attempts as NonNullable<PolicyResult["attempts"]>;

  it("refuses as many failures as the rule does", () => {
    const failures = attempts.filter(({ ok }) => !ok).length;
    expect(found.failures).toEqual({ count: expected.failuresRefused, of: failures });
    expect(found.successes.of).toBe(attempts.length - failures);
  });

  it("refuses exactly one success, the one after 147 failures", () => {
    expect(found.refusedSuccesses).toEqual([
      {
        at: "2015-03-30T16:01:36.000Z",
        client: "ip=198.19.37.182&account=account-38",
        failuresBefore: 147,
        firstFailureAt: "2015-03-30T15:54:19.000Z",
      },
    ]);
    expect(expected.refusedSuccesses).toEqual([
      { at: "2015-03-30T16:01:36Z", failuresBefore: 147 },
    ]);
  });

  it("tells how much of guessing is refused: of runs of ten failures and more", () => {
    expect(found.guessing).toEqual({
      from: 10,
      runs: expected.runs.length,
      failures: {
        count: expected.runs.reduce((sum, { refused }) => sum + refused, 0),
        of: expected.runs.reduce((sum, { failures }) => sum + failures, 0),
      },
    });
    expect(found.guessing.failures.count / found.guessing.failures.of).toBeGreaterThan(0.5);
  });

  it("tells the longest run of failures, and how much of it is refused", () => {
    expect(found.longestRun).toEqual({
      client: "ip=198.19.37.182&account=account-38",
      failures: 147,
      refused: 142,
      startAt: "2015-03-30T15:54:19.000Z",
    });
  });
});

describe("a policy that counts every attempt", () => {
  it("refuses successes of people who type well", async () => {
    const { attempts } = await replayed({
      algorithm: "sliding-window",
      limit: 1,
      window: "15m",
      by: ["ip", "account"],
    });
    expect(attempts?.refusedSuccesses.length).toBeGreaterThan(20);
  });
});

describe("a policy with a ban for failures", () => {
  it("counts refusals for the ban as such", async () => {
    const { banned, requests, longestWait } = await replayed({
      algorithm: "sliding-window",
      limit: 100,
      window: "15m",
      by: "ip",
      penalty: { on: "failures", after: 10, within: "10m", ban: "1h" },
    });
    expect(banned).toBe(requests.count);
    expect(banned).toBeGreaterThan(100);
    expect(longestWait?.ms).toBeLessThanOrEqual(3_600_000);
  });
});
