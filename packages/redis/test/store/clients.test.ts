import { definePolicy, HeadgateError } from "@headgate/core";
import { conformanceCases, type OpenStore } from "@headgate/core/testing";
import { Redis as UpstashRedis } from "@upstash/redis";
import { Redis as Redis5 } from "ioredis5";
import { createClient, RESP_TYPES } from "redis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { redisStore as httpStore, upstashExecutor } from "../../src/http/index.js";
import { nodeRedisExecutor, redisStore } from "../../src/index.js";
import { type HttpBridge, startHttpBridge } from "../servers/http-bridge.js";
import { freshPrefix, patientMs, useSingleServer } from "../servers/single.js";

const redis = useSingleServer();
const policy = definePolicy("api", { algorithm: "fixed-window", limit: 5, window: "1h" });
const charge = { policy, subject: "user=1", cost: 1 };
let bridge: HttpBridge;

beforeAll(async () => {
  bridge = await startHttpBridge(redis.server.port);
});
afterAll(() => bridge.close());

const openers: Readonly<Record<string, OpenStore>> = {
  "ioredis 6, its own connection": (clock) =>
    redisStore(redis.client, {
      prefix: freshPrefix(),
      clock,
      denyCache: false,
      callTimeoutMs: patientMs,
    }),
  "ioredis 5": (clock) =>
    redisStore(new Redis5({ port: redis.server.port, lazyConnect: true }), {
      prefix: freshPrefix(),
      clock,
      denyCache: false,
      callTimeoutMs: patientMs,
    }),
  "node-redis": (clock) =>
    redisStore(nodeRedisExecutor(createClient({ socket: { port: redis.server.port } })), {
      prefix: freshPrefix(),
      clock,
      denyCache: false,
      callTimeoutMs: patientMs,
    }),
  "@upstash/redis": (clock) =>
    httpStore(upstashExecutor(upstash()), {
      prefix: freshPrefix(),
      clock,
      denyCache: false,
      callTimeoutMs: patientMs,
    }),
};

for (const [client, open] of Object.entries(openers)) {
  describe(`the store over ${client}`, () => {
    for (const { name, run } of conformanceCases) test(name, () => run(open));
  });
}

for (const [client, open] of Object.entries(openers)) {
  test(`over ${client}, loads the script again after SCRIPT FLUSH`, async () => {
    const store = await open({ now: () => 1_000 });
    if (store.kind !== "async") throw new Error("a Redis store is asynchronous");
    for (const left of [4, 3]) {
      await redis.client.script("FLUSH");
      expect((await store.apply([charge], "commit"))[0]?.remaining).toBe(left);
    }
    await store.close();
  });
}

for (const [client, open] of Object.entries(openers)) {
  test(`over ${client}, lists bans`, async () => {
    const store = await open({ now: () => 1_000 });
    if (store.kind !== "async") throw new Error("a Redis store is asynchronous");
    const banned = definePolicy("banned", { ...policy, name: "banned", penalty: { on: "manual" } });
    const subjects = [...Array.from({ length: 300 }, (_, user) => `user=${user}`), "1 2", "[1]"];
    await Promise.all(subjects.map((subject) => store.bans.set(banned, subject, 500)));
    const told = await store.bans.list([banned], 1_000);
    expect(told.map(({ subject }) => subject).sort()).toEqual(subjects.sort());
    expect(new Set(told.map(({ endsInMs }) => endsInMs))).toEqual(new Set([500]));
    await store.close();
  });
}

test("lists bans under the client's own key prefix, whatever its characters", async () => {
  const banned = definePolicy("banned", { ...policy, name: "banned", penalty: { on: "manual" } });
  const client = new Redis5({ port: redis.server.port, keyPrefix: "a[b]*:", lazyConnect: true });
  const store = redisStore(client, { prefix: "p", callTimeoutMs: patientMs });
  await store.bans.set(banned, "user=1", 60_000);
  await redis.client.set("ab:p:{user=2}:banned!", "b0 0 9999999999999", "PX", 60_000);
  expect((await store.bans.list([banned], 9)).map(({ subject }) => subject)).toEqual(["user=1"]);
  await store.close();
});

test("over @upstash/redis, sends one request for the checks of a turn", async () => {
  const store = httpStore(upstashExecutor(upstash()), {
    prefix: freshPrefix(),
    callTimeoutMs: patientMs,
  });
  await store.apply([charge], "peek");
  const before = bridge.requests();
  await Promise.all(Array.from({ length: 20 }, () => store.apply([charge], "commit")));
  expect(bridge.requests() - before).toBe(1);
});

test("refuses an HTTP client that sends requests again", () => {
  const { url, token } = bridge;
  expect(() => upstashExecutor(new UpstashRedis({ url, token }))).toThrow(HeadgateError);
});

test("fails at once over node-redis while Redis is down", async () => {
  const client = createClient({ socket: { port: 1 } });
  const store = redisStore(nodeRedisExecutor(client), {
    prefix: freshPrefix(),
    callTimeoutMs: patientMs,
  });
  for (let count = 0; count < 2; count += 1) {
    await expect(store.apply([charge], "commit")).rejects.toMatchObject({ code: "STORE_FAILURE" });
  }
  await store.close();
});

test("over node-redis, reads replies as they are, whatever types the client maps them to", async () => {
  const client = createClient({
    socket: { port: redis.server.port },
    commandOptions: { typeMapping: { [RESP_TYPES.NUMBER]: String } },
  });
  const store = redisStore(nodeRedisExecutor(client), {
    prefix: freshPrefix(),
    callTimeoutMs: patientMs,
  });
  expect((await store.apply([charge], "commit"))[0]?.remaining).toBe(4);
  await store.close();
});

test("over @upstash/redis, tells what failed without the command that was sent", async () => {
  const store = httpStore(upstashExecutor(upstash("wrong")), {
    prefix: freshPrefix(),
    callTimeoutMs: patientMs,
  });
  const error = await store.apply([charge], "commit").catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "STORE_FAILURE", message: "redis: Unauthorized" });
  expect((error as HeadgateError).cause).toMatchObject({
    message: expect.stringContaining("user=1"),
  });
});

test("over @upstash/redis, sends nothing again because a subject reads like an error", async () => {
  const store = httpStore(upstashExecutor(upstash("wrong")), {
    prefix: freshPrefix(),
    callTimeoutMs: patientMs,
  });
  const before = bridge.requests();
  const call = store.apply([{ ...charge, subject: "user=NOSCRIPT" }], "commit");
  await expect(call).rejects.toMatchObject({ message: "redis: Unauthorized" });
  expect(bridge.requests() - before).toBe(1);
});

function upstash(token = bridge.token): UpstashRedis {
  const { url } = bridge;
  return new UpstashRedis({ url, token, retry: false, enableTelemetry: false });
}
