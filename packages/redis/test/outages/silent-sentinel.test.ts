import { createServer, type Socket } from "node:net";
import { createLimiter, fixedWindow } from "@headgate/core";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { redisStore } from "../../src/index.js";
import { startSentinelGroup } from "../servers/sentinel.js";
import { until } from "../servers/until.js";

test("asks the next sentinel when one accepts connections and never answers", async () => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket.on("error", () => undefined)));
  await new Promise<void>((listening) => silent.listen(0, "127.0.0.1", listening));
  const { port } = silent.address() as { port: number };
  const group = await startSentinelGroup();
  const { sentinels = [], name } = group.connect().options;
  const client = new Redis({
    sentinels: [{ host: "127.0.0.1", port }, ...sentinels],
    ...(name === undefined ? {} : { name }),
    lazyConnect: true,
  });
  const limiter = createLimiter({
    store: redisStore(client),
    onStoreError: () => undefined,
    policies: { api: fixedWindow({ limit: 1_000, window: "1h" }) },
  });
  try {
    await until(async () => (await limiter.check("api", { ip: "192.0.2.1" })).degraded === "none");
    expect(sockets.size).toBeGreaterThan(0);
  } finally {
    await limiter.close();
    client.disconnect();
    for (const socket of sockets) socket.destroy();
    silent.close();
    await group.stop();
  }
}, 60_000);
