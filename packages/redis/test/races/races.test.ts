import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { definePolicy } from "@headgate/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RedisCluster, startCluster } from "../servers/cluster.js";
import { type RedisServer, startRedisServer } from "../servers/redis-server.js";

const limit = 100;
const shiftsMs = [0, 0, 30_000, -30_000];
const attemptsOfEach = (5 * limit) / shiftsMs.length;
const racer = fileURLToPath(new URL("racer.mjs", import.meta.url));
const shiftedClock = new URL("shifted-clock.mjs", import.meta.url).href;

// So long a window that none of it comes back, and no boundary passes, while a test runs.
const rule = { limit, window: "24d" } as const;
const policies: Readonly<Record<string, Parameters<typeof definePolicy>[1]>> = {
  "fixed-window": { ...rule, algorithm: "fixed-window" },
  "fixed-window-first-request": {
    ...rule,
    algorithm: "fixed-window",
    anchor: "first-request",
  },
  "sliding-window": { ...rule, algorithm: "sliding-window" },
  "sliding-window-counter": { ...rule, algorithm: "sliding-window-counter" },
  "token-bucket": { ...rule, algorithm: "token-bucket" },
  "leaky-bucket": {
    ...rule,
    algorithm: "leaky-bucket",
    queue: limit - 1,
    maxDelayMs: 2 ** 31 - 1,
  },
};

describe("four processes on one server, two with clocks 30 s ahead and behind", () => {
  let server: RedisServer;
  let racers: readonly ChildProcess[];

  beforeAll(async () => {
    server = await startRedisServer();
    racers = startRacers({ ports: [server.port], cluster: false });
  });
  afterAll(async () => {
    for (const child of racers) child.kill("SIGKILL");
    await server.stop();
  });

  for (const name of Object.keys(policies)) {
    test(`admit exactly ${limit} of ${5 * limit} together: ${name}`, async () => {
      expect(await race(racers, name)).toBe(limit);
    });
  }

  test("have the clocks that they are said to have", async () => {
    const [right, , ahead, behind] = await Promise.all(racers.map((child) => makeReady(child)));
    const differences = [ahead, behind].map((clock) =>
      Math.round(((clock?.wallClockMs ?? 0) - (right?.wallClockMs ?? 0)) / 1_000),
    );
    expect(differences).toEqual([30, -30]);
    expect(behind?.monotonicMs).toBeLessThan(0);
  });
});

describe("four processes on a cluster, two with clocks 30 s ahead and behind", () => {
  let cluster: RedisCluster;
  let racers: readonly ChildProcess[];

  beforeAll(async () => {
    cluster = await startCluster();
    const ports = cluster.primaries.map(({ server }) => server.port);
    racers = startRacers({ ports, cluster: true });
  });
  afterAll(async () => {
    for (const child of racers) child.kill("SIGKILL");
    await cluster.stop();
  });

  for (const name of Object.keys(policies)) {
    test(`admit exactly ${limit} of ${5 * limit} together: ${name}`, async () => {
      expect(await race(racers, name)).toBe(limit);
    });
  }
});

function startRacers(target: {
  readonly ports: readonly number[];
  readonly cluster: boolean;
}): readonly ChildProcess[] {
  return shiftsMs.map((shiftMs) =>
    fork(racer, [JSON.stringify(target)], {
      execArgv: shiftMs === 0 ? [] : ["--import", shiftedClock],
      env: { ...process.env, SHIFT_MS: String(shiftMs) },
    }),
  );
}

async function race(racers: readonly ChildProcess[], name: string): Promise<number> {
  await Promise.all(racers.map((child) => makeReady(child, name)));
  const results = await Promise.all(
    racers.map((child) =>
      ask<{ admitted: number }>(child, {
        name,
        definition: policies[name],
        attempts: attemptsOfEach,
      }),
    ),
  );
  return results.reduce((sum, { admitted }) => sum + admitted, 0);
}

function makeReady(
  child: ChildProcess,
  name = "fixed-window",
): Promise<{ wallClockMs: number; monotonicMs: number }> {
  return ask(child, { name, definition: policies[name] });
}

async function ask<T>(child: ChildProcess, question: object): Promise<T> {
  const settled = new AbortController();
  const { signal } = settled;
  const ended = once(child, "exit", { signal }).then(([code]) => {
    throw new Error(`a racer ended with code ${code}`);
  });
  child.send(question);
  try {
    const [answer] = await Promise.race([once(child, "message", { signal }), ended]);
    return answer as T;
  } finally {
    ended.catch(() => undefined);
    settled.abort();
  }
}
