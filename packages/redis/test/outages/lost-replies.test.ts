import { definePolicy } from "@headgate/core";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { expect, test } from "vitest";
import { type IoredisClient, redisStore } from "../../src/index.js";
import { startRedisServer } from "../servers/redis-server.js";
import { patientMs } from "../servers/single.js";
import { startTcpProxy } from "../servers/tcp-proxy.js";
import { until } from "../servers/until.js";

const policy = definePolicy("api", { algorithm: "sliding-window", limit: 100, window: "1h" });
const charge = { policy, subject: "user=1", cost: 1 };
const lost = 5;

const clients: readonly [name: string, make: (port: number) => IoredisClient & Closable][] = [
  ["ioredis 6", (port) => new Redis({ port, host: "127.0.0.1", lazyConnect: true })],
  ["ioredis 5", (port) => new Redis5({ port, host: "127.0.0.1", lazyConnect: true })],
];

interface Closable {
  disconnect(): void;
}

for (const [name, make] of clients) {
  test(`counts a request once whose reply is lost after it has run: ${name}`, async () => {
    const server = await startRedisServer();
    const proxy = await startTcpProxy(server.port);
    const client = make(proxy.port);
    const store = redisStore(client, { callTimeoutMs: patientMs });
    const remaining = async (): Promise<number> =>
      (await store.apply([{ ...charge, cost: 0 }], "peek"))[0]?.remaining ?? Number.NaN;
    const isBack = (): Promise<boolean> => remaining().then(Number.isInteger, () => false);
    try {
      await until(isBack);
      for (let count = 1; count <= lost; count += 1) {
        proxy.mode = "drop-replies";
        await expect(store.apply([charge], "commit")).rejects.toMatchObject({
          code: "STORE_FAILURE",
        });
        proxy.mode = "pass";
        await until(isBack);
        expect(await remaining()).toBe(100 - count);
      }
    } finally {
      await store.close();
      client.disconnect();
      await proxy.close();
      await server.stop();
    }
  });
}
