import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { freePort, startRedisServer } from "../../../packages/redis/test/servers/redis-server.ts";

const example = fileURLToPath(new URL("../server.mjs", import.meta.url));

test("four processes behind one port admit the one limit together", async () => {
  const redis = process.env.REDIS_URL === undefined ? await startRedisServer() : undefined;
  const port = await freePort();
  const REDIS_URL = process.env.REDIS_URL ?? `redis://127.0.0.1:${redis.port}`;
  const primary = spawn(process.execPath, [example], {
    // A busy machine must not make Redis look as if it were down.
    env: { ...process.env, REDIS_URL, PORT: String(port), DEADLINE_MS: "10000" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const [line] = await once(primary.stdout, "data");
    expect(String(line)).toContain("4 processes");
    const answers = [];
    for (let round = 0; round < 12; round += 1) {
      answers.push(...(await Promise.all(Array.from({ length: 5 }, () => ask(port)))));
    }
    const admitted = answers.filter(({ status }) => status === 200);
    expect(admitted).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(40);
    expect(new Set(admitted.map(({ body }) => body.process)).size).toBeGreaterThan(1);
    const left = admitted.map(({ body }) => body.left).sort((a, b) => b - a);
    expect(left).toEqual(Array.from({ length: 20 }, (_, index) => 19 - index));
  } finally {
    primary.kill("SIGTERM");
    await once(primary, "exit");
    await redis?.stop();
  }
});

test("says what it needs when REDIS_URL is missing", async () => {
  const { REDIS_URL: _, ...env } = process.env;
  const primary = spawn(process.execPath, [example], { env, stdio: ["ignore", "ignore", "pipe"] });
  const [message] = await once(primary.stderr, "data");
  expect(String(message)).toContain("set REDIS_URL");
  const [code] = await once(primary, "exit");
  expect(code).toBe(1);
});

async function ask(port) {
  // Without keep-alive every request is a connection of its own, which the primary hands to the next process.
  const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: "close" } });
  return { status: response.status, body: await response.json() };
}
