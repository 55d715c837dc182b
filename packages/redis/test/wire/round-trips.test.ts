import { createLimiter, fixedWindow, slidingWindow, tokenBucket } from "@headgate/core";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RedisStoreOptions, redisStore } from "../../src/index.js";
import { type RedisServer, startRedisServer } from "../servers/redis-server.js";
import { freshPrefix, patientMs } from "../servers/single.js";
import { startTcpProxy, type TcpProxy } from "../servers/tcp-proxy.js";

let server: RedisServer;
let proxy: TcpProxy;

beforeAll(async () => {
  server = await startRedisServer();
  proxy = await startTcpProxy(server.port);
});

afterAll(async () => {
  await proxy.close();
  await server.stop();
});

const names = ["hourly", "strict", "steady"] as const;
const identity = { user: "ada" };

/** Gives a limiter over three policies of one subject, and a count of the round trips of what it is used for. */
async function withLimiter(
  body: (
    limiter: ReturnType<typeof limiterOver>,
    tripsOf: (run: () => Promise<unknown>) => Promise<number>,
  ) => Promise<void>,
  options: RedisStoreOptions = {},
): Promise<void> {
  const client = new Redis({ port: proxy.port, host: "127.0.0.1", lazyConnect: true });
  const limiter = limiterOver(client, options);
  try {
    await limiter.peek(names, identity);
    await body(limiter, async (run) => {
      const before = proxy.roundTrips();
      await run();
      return proxy.roundTrips() - before;
    });
  } finally {
    await limiter.close();
    client.disconnect();
  }
}

function limiterOver(client: Redis, options: RedisStoreOptions) {
  const rule = { limit: 20, window: "24h", by: "user" } as const;
  return createLimiter({
    store: redisStore(client, { prefix: freshPrefix(), callTimeoutMs: patientMs, ...options }),
    deadlineMs: patientMs,
    policies: { hourly: fixedWindow(rule), strict: slidingWindow(rule), steady: tokenBucket(rule) },
  });
}

test("takes one round trip for an admitted request, whatever the number of its policies", () =>
  withLimiter(async (limiter, tripsOf) => {
    for (const count of [1, 2, 3]) {
      const trips = await tripsOf(() => limiter.check(names.slice(0, count), identity));
      expect(trips, `${count} policies`).toBe(1);
    }
  }));

test("takes one round trip for 10 requests of one turn", () =>
  withLimiter(async (limiter, tripsOf) => {
    const trips = await tripsOf(() =>
      Promise.all(Array.from({ length: 10 }, () => limiter.check(names, identity))),
    );
    expect(trips).toBe(1);
  }));

test("takes no round trip for a request that is refused again", () =>
  withLimiter(async (limiter, tripsOf) => {
    await limiter.check(names, identity, { cost: 20 });
    expect(await tripsOf(() => limiter.check(names, identity))).toBe(1);
    const trips = await tripsOf(async () => {
      for (let count = 0; count < 100; count += 1) {
        expect((await limiter.check(names, identity)).allowed).toBe(false);
      }
    });
    expect(trips).toBe(0);
  }));

test("takes one round trip for layered policies with penalties, shadows and tiers, admitted or refused", async () => {
  const client = new Redis({ port: proxy.port, host: "127.0.0.1", lazyConnect: true });
  const penalty = { after: 5, within: "1h", ban: "1h" } as const;
  const rule = { limit: 3, window: "24h", by: "user" } as const;
  const limiter = createLimiter({
    store: redisStore(client, { prefix: freshPrefix(), callTimeoutMs: patientMs }),
    deadlineMs: patientMs,
    policies: {
      wide: slidingWindow({ ...rule, limit: 100, tiers: { pro: { limit: 1_000 } } }),
      tight: tokenBucket({ ...rule, penalty, version: 2 }),
      tried: fixedWindow({ ...rule, limit: 1, shadow: true, penalty }),
    },
  });
  try {
    await limiter.peek("wide", identity);
    for (let count = 0; count < 8; count += 1) {
      const before = proxy.roundTrips();
      const decision = await limiter.check(["wide", "tight", "tried"], identity, { tier: "pro" });
      expect(proxy.roundTrips() - before, `request ${count}`).toBe(1);
      expect(decision.reason).toBe(count < 3 ? "admitted" : count < 7 ? "limit" : "ban");
    }
  } finally {
    await limiter.close();
    client.disconnect();
  }
});
