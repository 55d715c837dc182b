import { createLimiter, fixedWindow } from "@headgate/core";
import { Redis } from "ioredis";
import { expect, test, vi } from "vitest";
import { redisStore } from "../../src/index.js";
import { startRedisServer } from "../servers/redis-server.js";
import { patientMs } from "../servers/single.js";

test("refused clients that hammer during an outage keep their refusals, and do not hold the breaker shut", async () => {
  const server = await startRedisServer();
  const client = new Redis({ port: server.port, host: "127.0.0.1", lazyConnect: true });
  const codes: string[] = [];
  const limiter = createLimiter({
    store: redisStore(client),
    onStoreError: ({ code }) => codes.push(code),
    policies: {
      api: fixedWindow({ limit: 1, window: "1h", anchor: "first-request", onStoreFailure: "open" }),
    },
  });
  const check = (ip: string) => limiter.check("api", { ip });
  try {
    // On a busy machine the first connection may take longer than a deadline.
    await vi.waitFor(async () => {
      expect(await check("192.0.2.1")).toMatchObject({ allowed: false, degraded: "none" });
    }, patientMs);
    codes.length = 0;
    server.process.kill("SIGSTOP");
    for (let count = 0; count < 10; count += 1) {
      expect(await check("192.0.2.1")).toMatchObject({ allowed: false, degraded: "none" });
      expect(await check("192.0.2.2")).toMatchObject({ allowed: true, degraded: "open" });
    }
    expect(codes.filter((code) => code !== "STORE_CIRCUIT_OPEN")).toHaveLength(5);
  } finally {
    server.process.kill("SIGCONT");
    await limiter.close();
    client.disconnect();
    await server.stop();
  }
});
