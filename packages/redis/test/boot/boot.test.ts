import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { freePort, type RedisServer, startRedisServer } from "../servers/redis-server.js";
import { until } from "../servers/until.js";

const application = fileURLToPath(new URL("application.mjs", import.meta.url));

test("an application started while Redis is down lives, limits by itself, and uses Redis once it is up", async () => {
  const redisPort = await freePort();
  const child = fork(application, [String(redisPort)], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (data) => (printed += data));
  let server: RedisServer | undefined;
  try {
    const [{ port }] = (await once(child, "message")) as [{ port: number }];
    const get = async (): Promise<{ status: number; degraded?: string }> => {
      const response = await fetch(`http://127.0.0.1:${port}/`);
      const { degraded } = (await response.json()) as { degraded?: string };
      return { status: response.status, ...(degraded === undefined ? {} : { degraded }) };
    };
    for (let count = 0; count < 10; count += 1) {
      expect(await get()).toEqual({ status: 200, degraded: "local" });
    }
    expect(await get()).toEqual({ status: 429 });

    server = await startRedisServer([], redisPort);
    await until(async () => (await get()).degraded === "none", 10_000);
    for (let count = 0; count < 9; count += 1) {
      expect(await get()).toEqual({ status: 200, degraded: "none" });
    }
    expect(await get()).toEqual({ status: 429 });
    const redis = new Redis({ port: redisPort, host: "127.0.0.1" });
    expect(await redis.dbsize()).toBe(1);
    redis.disconnect();

    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    expect(printed).not.toMatch(/unhandled|rejection/i);
  } finally {
    child.kill("SIGKILL");
    await server?.stop();
  }
});
