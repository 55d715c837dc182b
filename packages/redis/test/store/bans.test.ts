import { type Ban, createLimiter, definePolicy, fixedWindow, memoryStore } from "@headgate/core";
import { bans } from "@headgate/core/policies";
import { ManualClock } from "@headgate/core/testing";
import { describe, expect, test } from "vitest";
import { type RedisStoreOptions, redisStore } from "../../src/index.js";
import { freshPrefix, patientMs, useSingleServer } from "../servers/single.js";

const redis = useSingleServer();

const rule = { algorithm: "fixed-window", limit: 2, window: "1s" } as const;
const login = definePolicy("login", {
  ...rule,
  penalty: { after: 3, within: "1m", ban: "10s" },
});
const manual = definePolicy("manual", { ...rule, penalty: { on: "manual" } });

function openStore(options: RedisStoreOptions = {}) {
  return redisStore(redis.client, {
    connection: "shared",
    prefix: freshPrefix(),
    callTimeoutMs: patientMs,
    ...options,
  });
}

for (const denyCache of [true, false]) {
  test(`bans after 3 refusals for exactly 10 s, with the deny cache ${denyCache ? "on" : "off"}`, async () => {
    const clock = new ManualClock(1_700_000_000_000);
    const limiter = createLimiter({
      store: openStore({ clock, denyCache }),
      deadlineMs: patientMs,
      policies: {
        login: fixedWindow({
          limit: 2,
          window: "1s",
          by: "user",
          penalty: { after: 3, within: "1m", ban: "10s" },
        }),
      },
    });
    const check = () => limiter.check("login", { user: "ada" });
    const seen: (string | number)[] = [];
    for (let count = 0; count < 5; count += 1) {
      const { reason, retryAfterMs } = await check();
      seen.push(reason, retryAfterMs);
    }
    expect(seen).toEqual([
      "admitted",
      0,
      "admitted",
      0,
      "limit",
      1_000,
      "limit",
      1_000,
      "ban",
      10_000,
    ]);
    for (const [passedMs, restMs] of [
      [1, 9_999],
      [4_999, 5_000],
      [4_999, 1],
    ] as const) {
      clock.advance(passedMs);
      expect(await check()).toMatchObject({ reason: "ban", remaining: 0, retryAfterMs: restMs });
    }
    clock.advance(1);
    expect(await check()).toMatchObject({ allowed: true, remaining: 1 });
  });
}

test("ends a ban, and what led to it, with a reset, and spares both where that is asked for", async () => {
  const store = openStore();
  const charge = { policy: login, subject: "user=1", cost: 3 };
  const look = async () => (await store.apply([{ ...charge, cost: 1 }], "peek"))[0];
  for (let count = 0; count < 3; count += 1) await store.apply([charge], "commit");
  await store.reset(login, charge.subject, true);
  expect((await look())?.banMs).toBeGreaterThan(9_000);
  await store.reset(login, charge.subject);
  expect(await look()).toMatchObject({ allowed: true, banMs: 0 });
  for (let count = 0; count < 2; count += 1) await store.bans.strike(login, charge.subject);
  expect((await look())?.banMs).toBe(0);
  await store.bans.strike(login, charge.subject);
  expect((await look())?.banMs).toBeGreaterThan(9_000);
  await store.bans.set(login, charge.subject, 0);
  expect(await look()).toMatchObject({ allowed: true, banMs: 0 });
});

test("keeps a ban in a key of its own beside the state, with a TTL to its end", async () => {
  const prefix = freshPrefix();
  const clock = new ManualClock(1_700_000_000_000);
  const store = openStore({ prefix, clock });
  await store.apply([{ policy: login, subject: "user=1", cost: 3 }], "commit");
  const key = `${prefix}:{user=1}:login!`;
  expect(await redis.client.keys(`${prefix}*`)).toEqual([key]);
  expect(await redis.client.get(key)).toBe("b1700000000000 1 0");
  // The TTL has a grace while a test's clock decides.
  expect(await redis.client.pttl(key)).toBeLessThanOrEqual(60_000 + 60_000);
  await store.bans.set(login, "user=1", 5_000);
  expect(await redis.client.get(key)).toBe("b0 0 1700000005000");
  expect(await redis.client.pttl(key)).toBeLessThanOrEqual(5_000 + 60_000);
});

test("asks for no key of a ban where a policy has no penalty", async () => {
  const store = openStore();
  const plain = definePolicy("plain", rule);
  await store.apply([{ policy: plain, subject: "user=1", cost: 1 }], "commit");
  const before = await redis.client.info("commandstats");
  await store.apply([{ policy: plain, subject: "user=1", cost: 1 }], "commit");
  const after = await redis.client.info("commandstats");
  const gets = (stats: string) => Number(/cmdstat_get:calls=(\d+)/.exec(stats)?.[1]);
  expect(gets(after) - gets(before)).toBe(1);
});

describe("the list of bans", () => {
  const sorted = (list: readonly Ban[]) =>
    [...list].sort(
      (a, b) => (a.subject < b.subject ? -1 : 1) || a.policyName.localeCompare(b.policyName),
    );

  const odd = [
    "user=1",
    "user=%7B*%7D",
    "a b",
    "{x}",
    "*",
    "x\ny",
    '{"json":1}',
    "~",
    "12",
    "[é]",
    "l".repeat(10_000),
  ];

  for (const hashTag of [undefined, "t*g"]) {
    test(`tells every subject as the memory store does, ${hashTag === undefined ? "each in its slot" : "under one tag"}`, async () => {
      const clock = new ManualClock(1_700_000_000_000);
      const memory = memoryStore({ clock });
      const store = openStore({ clock, ...(hashTag === undefined ? {} : { hashTag }) });
      for (const [index, subject] of odd.entries()) {
        const policy = index % 2 === 0 ? login : manual;
        memory.bans.set(policy, subject, 1_000 + index);
        await store.bans.set(policy, subject, 1_000 + index);
      }
      memory.bans.strike(login, "user=2");
      await store.bans.strike(login, "user=2");
      clock.advance(1_000);
      for (const policies of [[login, manual], [login], [manual], []]) {
        const told = await store.bans.list(policies, 100);
        expect(sorted(told)).toEqual(sorted(memory.bans.list(policies, 100)));
      }
    });
  }

  test("finds them among 10,000 other keys, under a prefix of glob characters, with SCAN alone", async () => {
    const prefix = "a*[b-d]?\\";
    const store = openStore({ prefix });
    const pipeline = redis.client.pipeline();
    for (let count = 0; count < 10_000; count += 1)
      pipeline.set(`aXb1\\:{user=${count}}:login!`, "b0 0 9999999999999", "PX", 60_000);
    // Keys that the pattern lets through, and that are no bans of this store.
    for (const key of ["login!x", "login", "other!", "login!:login!"])
      pipeline.set(`${prefix}:{user=1}:${key}`, "b0 0 9999999999999", "PX", 60_000);
    await pipeline.exec();
    for (let count = 0; count < 300; count += 1)
      await store.bans.set(login, `user=${count}`, 60_000);
    await redis.client.lpush(`${prefix}:{user=foreign}:login!`, "1");
    await redis.client.call("CONFIG", "RESETSTAT");
    const all = await store.bans.list([login, manual], 1_000);
    expect(all.map(({ subject }) => subject).sort()).toEqual(
      Array.from({ length: 300 }, (_, count) => `user=${count}`).sort(),
    );
    expect(await store.bans.list([login], 7)).toHaveLength(7);
    expect(await store.bans.list([manual], 7)).toEqual([]);
    const stats = await redis.client.info("commandstats");
    expect(stats).toContain("cmdstat_scan");
    expect(stats).not.toContain("cmdstat_keys");
    await redis.client.del(`${prefix}:{user=foreign}:login!`);
  });

  test("is that of a limiter's policies, as many as are asked for", async () => {
    const penalty = { on: "manual" } as const;
    const limiter = createLimiter({
      store: openStore(),
      deadlineMs: patientMs,
      policies: { a: fixedWindow({ limit: 1, window: "1s", by: "user", penalty }) },
    });
    for (const user of ["1", "2", "3"])
      await limiter.ask(({ bans }) => bans.set(limiter.policies.a, `user=${user}`, 60_000));
    expect(await bans(limiter, 2)).toHaveLength(2);
    expect((await bans(limiter)).map(({ policyName }) => policyName)).toEqual(["a", "a", "a"]);
  });

  test("gives up when it takes longer than a call may", async () => {
    const store = redisStore(
      {
        slotOf: undefined,
        ready: () => undefined,
        run: async () => [],
        async *scan() {
          for (;;) {
            await new Promise((resolve) => setTimeout(resolve, 5));
            yield [];
          }
        },
        close: async () => undefined,
      },
      { callTimeoutMs: 20 },
    );
    await expect(store.bans.list([login], 1)).rejects.toMatchObject({ code: "STORE_TIMEOUT" });
  });

  test("is refused by an executor that cannot scan", async () => {
    const executor = {
      slotOf: undefined,
      ready: () => undefined,
      run: async () => [],
      close: async () => undefined,
    };
    await expect(redisStore(executor).bans.list([login], 1)).rejects.toMatchObject({
      code: "STORE_FAILURE",
    });
  });
});
