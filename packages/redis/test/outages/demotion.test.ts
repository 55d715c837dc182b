import { setImmediate as turn } from "node:timers/promises";
import { definePolicy } from "@headgate/core";
import { Redis } from "ioredis";
import { expect, test, vi } from "vitest";
import { redisStore } from "../../src/index.js";
import { freePort, startRedisServer } from "../servers/redis-server.js";
import { patientMs } from "../servers/single.js";

const policy = definePolicy("api", { algorithm: "fixed-window", limit: 100, window: "1h" });
const charge = { policy, subject: "user=1", cost: 1 };

test("connects anew once when a server is demoted, however many calls it answers READONLY", async () => {
  const server = await startRedisServer();
  const client = new Redis({ port: server.port, host: "127.0.0.1" });
  const store = redisStore(client, { coalesce: false, callTimeoutMs: patientMs });
  const warnings = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  try {
    await store.apply([charge], "commit");
    await client.replicaof("127.0.0.1", await freePort());
    const calls = Array.from({ length: 50 }, () => store.apply([charge], "commit"));
    for (const { status } of await Promise.allSettled(calls)) expect(status).toBe("rejected");
    await turn();
    expect(warnings.mock.calls).toEqual([]);
  } finally {
    warnings.mockRestore();
    await store.close();
    client.disconnect();
    await server.stop();
  }
});
