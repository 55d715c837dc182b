import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { redisStore } from "@headgate/redis";
import { Redis } from "ioredis";
import { expect, test, vi } from "vitest";
import { freePort, startRedisServer } from "../../../packages/redis/test/servers/redis-server.ts";
import { createApp } from "../app.mjs";

const demo = fileURLToPath(new URL("../demo.mjs", import.meta.url));

function runDemo(port) {
  const REDIS_URL = `redis://127.0.0.1:${port}`;
  return promisify(execFile)(process.execPath, [demo, "--once"], {
    env: { ...process.env, REDIS_URL },
  });
}

test("the demonstration keeps every promise on Redis, also when it is run again at once", async () => {
  const server = await startRedisServer();
  try {
    for (let run = 0; run < 2; run += 1) {
      const { stdout } = await runDemo(server.port);
      expect(stdout).toContain("counting in Redis");
      expect(stdout).toContain("Every step was as promised.");
    }
    const redis = new Redis(server.port);
    expect((await redis.keys("*")).sort()).toContain("headgate:{user=ada}:freeReads");
    redis.disconnect();
  } finally {
    await server.stop();
  }
});

test("the demonstration keeps every promise while Redis is down", async () => {
  const { stdout } = await runDemo(await freePort());
  expect(stdout).toContain("Every step was as promised.");
});

test("clients see limits throughout when Redis is killed and started anew under load", async () => {
  vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  let redis = await startRedisServer();
  const client = new Redis({ port: redis.port, host: "127.0.0.1", lazyConnect: true });
  const app = createApp({ store: redisStore(client) });
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${server.address().port}`;
  // What takes long on a busy machine takes as long without limits.
  const unlimited = createServer((_request, response) => response.end()).listen(0, "127.0.0.1");
  await once(unlimited, "listening");
  const unlimitedUrl = `http://127.0.0.1:${unlimited.address().port}`;
  const seen = [];
  const ask = async (phase, method, key) => {
    const [answer, usual] = await Promise.all([
      send(`${url}/items`, method, key),
      send(unlimitedUrl, method, key),
    ]);
    const addedMs = answer.tookMs - usual.tookMs;
    seen.push({ phase, route: `${method} /items`, ...answer, addedMs });
    return answer;
  };
  const untilWritten = (phase, key) =>
    vi.waitFor(async () => expect((await ask(phase, "POST", key)).status).toBe(201), 10_000);
  // Ada reads throughout and writes while Redis is up; Grace writes while it is down, since what is left of
  // a refusal that Ada was told holds during an outage as well.
  const load = async (phase, forMs, writer) => {
    const endAt = performance.now() + forMs;
    while (performance.now() < endAt) {
      await Promise.all([ask(phase, "GET", "key-ada"), ask(phase, "POST", writer)]);
      await pause(5);
    }
  };
  try {
    await untilWritten("at first", "key-ada");
    await load("up", 300, "key-ada");
    await redis.stop();
    await load("down", 600, "key-grace");
    redis = await startRedisServer([], redis.port);
    await untilWritten("coming back", "key-grace");
    await load("up again", 300, "key-ada");
  } finally {
    vi.restoreAllMocks();
    server.closeAllConnections();
    server.close();
    unlimited.closeAllConnections();
    unlimited.close();
    await app.locals.limiter.close();
    client.disconnect();
    await redis.stop();
  }

  console.table(tableOf(seen));
  expect(Math.max(...seen.map(({ addedMs }) => addedMs))).toBeLessThan(450);
  const during = (phase, route) =>
    seen.filter((answer) => answer.phase === phase && answer.route === route);
  for (const phase of ["up", "down", "up again"]) {
    // Reads fail local: the same limit, with all its fields.
    for (const { status, fields } of during(phase, "GET /items")) {
      expect([200, 429]).toContain(status);
      expect(fields).toBe("limit remaining reset");
    }
  }
  for (const phase of ["up", "up again"]) {
    for (const { status } of during(phase, "POST /items")) expect([201, 429]).toContain(status);
  }
  // Writes fail closed: refused without invented numbers, and told when to come again.
  for (const { status, fields, retryAfter } of during("down", "POST /items")) {
    expect(status).toBe(503);
    expect(Number(retryAfter)).toBeGreaterThanOrEqual(1);
    expect(fields).toBe("limit");
  }
});

async function send(url, method, key) {
  const sentAt = performance.now();
  const response = await fetch(url, { method, headers: { "x-api-key": key } });
  await response.text();
  return {
    status: response.status,
    fields: ["limit", "remaining", "reset"]
      .filter((name) => response.headers.has(`x-ratelimit-${name}`))
      .join(" "),
    retryAfter: response.headers.get("retry-after"),
    tookMs: performance.now() - sentAt,
  };
}

function tableOf(seen) {
  const rows = new Map();
  for (const { phase, route, status, fields, addedMs } of seen) {
    const name = `${phase} ${route} ${status} ${fields}`;
    const row = rows.get(name) ?? { phase, route, status, fields, answers: 0, "added ms": 0 };
    row.answers += 1;
    row["added ms"] = Math.max(row["added ms"], Math.round(addedMs));
    rows.set(name, row);
  }
  return [...rows.values()];
}
