import { definePolicy, HeadgateError, type Policy } from "@headgate/core";
import { SteppingClock } from "@headgate/core/testing";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { type RedisStore, type RedisStoreOptions, redisStore } from "../../src/index.js";
import { freshPrefix, patientMs, useSingleServer } from "../servers/single.js";
import { scriptCallsDuring } from "../servers/wire.js";

const redis = useSingleServer();

const fixed = definePolicy("fixed", { algorithm: "fixed-window", limit: 5, window: "1h" });
const log = definePolicy("log", { algorithm: "sliding-window", limit: 20_000, window: "1h" });
const counter = definePolicy("counter", {
  algorithm: "sliding-window-counter",
  limit: 5,
  window: "1h",
});
const bucket = definePolicy("bucket", { algorithm: "token-bucket", limit: 5, window: "1h" });
const queue = definePolicy("queue", {
  algorithm: "leaky-bucket",
  limit: 5,
  window: "1s",
  queue: 4,
});
const all: readonly Policy[] = [fixed, log, counter, bucket, queue];

interface Opened {
  readonly store: RedisStore;
  readonly prefix: string;
}

/** Runs a body on a store with a connection of its own, and closes it. */
async function withStore(
  body: (opened: Opened) => Promise<void>,
  options: RedisStoreOptions = {},
): Promise<void> {
  const prefix = freshPrefix();
  const store = redisStore(redis.client, { prefix, callTimeoutMs: patientMs, ...options });
  try {
    await store.apply([{ policy: fixed, subject: "warm=up", cost: 0 }], "peek");
    await body({ store, prefix });
  } finally {
    await store.close();
  }
}

const once = (policy: Policy, subject = "user=1", cost = 1) => [{ policy, subject, cost }];

test("sends one script call for a request, whatever the number of its policies", () =>
  withStore(async ({ store }) => {
    const batch = all.map((policy) => ({ policy, subject: "user=1", cost: 1 }));
    const calls = await scriptCallsDuring(redis.client, () => store.apply(batch, "commit"));
    expect(calls).toBe(1);
  }));

test("sends one script call for 100 checks of one turn, with the answers that they would get one by one", () =>
  withStore(async ({ store }) => {
    const answers: number[] = [];
    const calls = await scriptCallsDuring(redis.client, async () => {
      const checks = Array.from({ length: 100 }, () => store.apply(once(fixed), "commit"));
      for (const [outcome] of await Promise.all(checks)) {
        answers.push(outcome?.allowed === true ? outcome.remaining : -1);
      }
    });
    expect(calls).toBe(1);
    expect(answers.slice(0, 6)).toEqual([4, 3, 2, 1, 0, -1]);
    expect(answers.filter((answer) => answer >= 0)).toHaveLength(5);
  }));

test("sends at most 128 charges in a script call", () =>
  withStore(async ({ store }) => {
    const calls = await scriptCallsDuring(redis.client, () =>
      Promise.all(
        Array.from({ length: 300 }, (_, user) =>
          store.apply(once(fixed, `user=${user}`), "commit"),
        ),
      ),
    );
    expect(calls).toBe(3);
  }));

test("sends each check by itself when coalescing is off", () =>
  withStore(
    async ({ store }) => {
      const calls = await scriptCallsDuring(redis.client, () =>
        Promise.all(Array.from({ length: 10 }, () => store.apply(once(log), "commit"))),
      );
      expect(calls).toBe(10);
    },
    { coalesce: false },
  ));

test("answers a remembered refusal without a script call, with its times shortened", () =>
  withStore(async ({ store }) => {
    await store.apply(once(fixed, "user=1", 5), "commit");
    const [refused] = await store.apply(once(fixed), "commit");
    let again = refused;
    const calls = await scriptCallsDuring(redis.client, async () => {
      for (let count = 0; count < 50; count += 1)
        [again] = await store.apply(once(fixed), "commit");
    });
    expect(calls).toBe(0);
    expect(again?.allowed).toBe(false);
    expect(again?.retryAfterMs).toBeLessThanOrEqual(refused?.retryAfterMs ?? 0);
    expect(refused?.receipt).toBeUndefined();
  }));

test("asks again after a refund and after a reset of a remembered refusal's key", () =>
  withStore(async ({ store }) => {
    const [taken] = await store.apply(once(fixed, "user=1", 5), "commit");
    expect((await store.apply(once(fixed), "commit"))[0]?.allowed).toBe(false);
    if (taken?.receipt === undefined) throw new Error("an admitted charge has a receipt");
    await store.refund([taken.receipt]);
    expect((await store.apply(once(fixed, "user=1", 5), "commit"))[0]?.allowed).toBe(true);
    expect((await store.apply(once(fixed), "commit"))[0]?.allowed).toBe(false);
    await store.reset(fixed, "user=1");
    expect((await store.apply(once(fixed), "commit"))[0]?.allowed).toBe(true);
  }));

test("remembers a refusal for its own cost alone", () =>
  withStore(async ({ store }) => {
    await store.apply(once(fixed, "user=1", 3), "commit");
    expect((await store.apply(once(fixed, "user=1", 3), "commit"))[0]?.allowed).toBe(false);
    expect((await store.apply(once(fixed, "user=1", 2), "commit"))[0]?.allowed).toBe(true);
  }));

test("counts exactly when the scripts are flushed under parallel calls", () =>
  withStore(
    async ({ store }) => {
      const checks = Array.from({ length: 100 }, async (_, index) => {
        if (index % 10 === 0) await redis.client.script("FLUSH");
        return store.apply(once(fixed), "commit");
      });
      const outcomes = (await Promise.all(checks)).flat();
      expect(outcomes.filter(({ allowed }) => allowed)).toHaveLength(5);
    },
    { coalesce: false, denyCache: false },
  ));

test("gives 63 answers and one failure when one of 64 coalesced keys holds a foreign value", () =>
  withStore(async ({ store, prefix }) => {
    await redis.client.lpush(`${prefix}:{user=7}:fixed`, "foreign");
    const settled = await Promise.allSettled(
      Array.from({ length: 64 }, (_, user) => store.apply(once(fixed, `user=${user}`), "commit")),
    );
    const failures = settled.filter(({ status }) => status === "rejected");
    expect(failures).toHaveLength(1);
    expect(settled[7]?.status).toBe("rejected");
    const { reason } = settled[7] as PromiseRejectedResult;
    expect(reason).toBeInstanceOf(HeadgateError);
    expect(reason.code).toBe("STORE_KEY_FAILURE");
    expect(reason.cause.message).toMatch(/^WRONGTYPE/);
  }));

test("gives one failure when the first of the coalesced keys holds a log that was cut off", () =>
  withStore(async ({ store, prefix }) => {
    const key = `${prefix}:{user=0}:log`;
    await store.apply(once(log, "user=0"), "commit");
    const whole = await redis.client.getBuffer(key);
    await redis.client.set(key, (whole as Buffer).subarray(0, -5), "PX", 60_000);
    for (const mode of ["commit", "peek"] as const) {
      const settled = await Promise.allSettled([
        store.apply(once(log, "user=0"), mode),
        store.apply(once(fixed, "user=1"), mode),
        store.apply(once(log, "user=2"), mode),
      ]);
      const [sick, ...others] = settled.map(({ status }) => status);
      expect([sick, others], mode).toEqual(["rejected", ["fulfilled", "fulfilled"]]);
      const { reason } = settled[0] as PromiseRejectedResult;
      expect(reason.code, mode).toBe("STORE_KEY_FAILURE");
    }
    await store.reset(log, "user=0");
    expect((await store.apply(once(log, "user=0"), "commit"))[0]?.remaining).toBe(19_999);
  }));

test("gives every key a TTL that ends when its state does, at most two windows later", () =>
  withStore(async ({ store, prefix }) => {
    for (const policy of all) await store.apply(once(policy), "commit");
    for (const policy of all) {
      const ttl = await redis.client.pttl(`${prefix}:{user=1}:${policy.name}`);
      expect(ttl, policy.name).toBeGreaterThan(0);
      expect(ttl, policy.name).toBeLessThanOrEqual(2 * policy.windowMs);
    }
  }));

test("gives a key without a TTL its TTL back, whether the request is admitted or refused", () =>
  withStore(
    async ({ store, prefix }) => {
      for (const cost of [1, 30_000]) {
        for (const policy of all) {
          const key = `${prefix}:{user=1}:${policy.name}`;
          await store.apply(once(policy), "commit");
          await redis.client.persist(key);
          await store.apply(once(policy, "user=1", cost), "commit");
          expect(await redis.client.pttl(key), `${policy.name}, cost ${cost}`).toBeGreaterThan(0);
        }
      }
    },
    { denyCache: false },
  ));

test("writes nothing when it refuses", () =>
  withStore(
    async ({ store, prefix }) => {
      for (const policy of [fixed, counter, bucket]) {
        const key = `${prefix}:{user=1}:${policy.name}`;
        await store.apply(once(policy, "user=1", 5), "commit");
        const [value, expiry] = [await redis.client.get(key), await redis.client.pexpiretime(key)];
        const batch = [...once(policy), ...once(log, "user=2")];
        await store.apply(batch, "commit");
        expect([await redis.client.get(key), await redis.client.pexpiretime(key)]).toEqual([
          value,
          expiry,
        ]);
      }
      expect(await redis.client.exists(`${prefix}:{user=2}:log`)).toBe(0);
    },
    { denyCache: false },
  ));

test("carries what is used over to another algorithm or window under the same name", () =>
  withStore(async ({ prefix }) => {
    for (const before of all) {
      for (const after of all) {
        if (before === after) continue;
        const [old, fresh] = [before, after].map((policy) =>
          definePolicy("api", { ...policy, name: "api" }),
        ) as [Policy, Policy];
        const [first, second] = [0, 1].map(() =>
          redisStore(redis.client, { prefix, connection: "shared", callTimeoutMs: patientMs }),
        ) as [RedisStore, RedisStore];
        await first.apply(once(old, "user=1", 3), "commit");
        const [outcome] = await second.apply(once(fresh, "user=1", 1), "commit");
        expect(outcome?.remaining, `${before.name}, then ${after.name}`).toBe(
          (outcome?.limit ?? 0) - 4,
        );
        await second.reset(fresh, "user=1");
      }
    }
  }));

test("takes texts of other formats for no state, and overwrites them", () =>
  withStore(async ({ store, prefix }) => {
    const texts = ["", "t3600000", "t1h 5 1700000000000", "b1 2 3", "w\u0002\u0001rest", "x1 2 3"];
    for (const text of [...texts, "w1h 20000\n", "c1h 1 2 3", "f1hv 1 2 3 4 5"]) {
      for (const policy of all) {
        const key = `${prefix}:{user=1}:${policy.name}`;
        await redis.client.set(key, text, "PX", 60_000);
        const [outcome] = await store.apply(once(policy), "commit");
        expect(outcome?.remaining, `${policy.name} on ${text}`).toBe((outcome?.limit ?? 0) - 1);
        await store.reset(policy, "user=1");
      }
    }
  }));

test("keeps what a log holds when the limit is raised beyond what its entries could tell apart", () =>
  withStore(async ({ prefix }) => {
    const clock = new SteppingClock(1_700_000_000_000);
    const open = () =>
      redisStore(redis.client, { prefix, clock, connection: "shared", callTimeoutMs: patientMs });
    const small = definePolicy("api", { algorithm: "sliding-window", limit: 200, window: "1m" });
    const large = definePolicy("api", { algorithm: "sliding-window", limit: 9_000, window: "1m" });
    const [before, after] = [open(), open()];
    for (let count = 0; count < 40; count += 1) {
      await before.apply(once(small, "user=1", 5), "commit");
      clock.set(clock.now() + 10);
    }
    const [more] = await after.apply(once(large, "user=1", 8_000), "commit");
    expect([more?.allowed, more?.remaining]).toEqual([true, 800]);
    clock.set(clock.now() + 59_600);
    expect((await after.apply(once(large), "peek"))[0]?.remaining).toBe(805);
  }));

test("admits a cost of 10,000 in one call, and gives it back", () =>
  withStore(async ({ store }) => {
    const [outcome] = await store.apply(once(log, "user=1", 10_000), "commit");
    expect([outcome?.allowed, outcome?.remaining]).toEqual([true, 10_000]);
    if (outcome?.receipt === undefined) throw new Error("an admitted charge has a receipt");
    await store.refund([outcome.receipt]);
    expect((await store.apply(once(log), "peek"))[0]?.remaining).toBe(20_000);
  }));

test("puts the client's own key prefix before each key once", async () => {
  const client = new Redis({ port: redis.server.port, keyPrefix: "app:" });
  for (const connection of ["own", "shared"] as const) {
    const prefix = freshPrefix();
    const store = redisStore(client, { prefix, connection, callTimeoutMs: patientMs });
    await store.apply(once(fixed), "commit");
    expect(await redis.client.keys(`*${prefix}:*`)).toEqual([`app:${prefix}:{user=1}:fixed`]);
    await store.close();
  }
  client.disconnect();
});

test("leaves no command and no listener on the client, whatever its pipelining, and closes only its own", async () => {
  for (const enableAutoPipelining of [false, true]) {
    const client = new Redis({ port: redis.server.port, enableAutoPipelining });
    await client.ping();
    const listeners = client.eventNames().map((name) => [name, client.listenerCount(name)]);
    const members = Object.keys(client);
    for (const connection of ["own", "shared"] as const) {
      const store = redisStore(client, {
        prefix: freshPrefix(),
        connection,
        callTimeoutMs: patientMs,
      });
      expect((await store.apply(once(fixed), "commit"))[0]?.remaining).toBe(4);
      await store.close();
    }
    expect(client.eventNames().map((name) => [name, client.listenerCount(name)])).toEqual(
      listeners,
    );
    expect(Object.keys(client)).toEqual(members);
    expect(await client.ping()).toBe("PONG");
    client.disconnect();
  }
});
