import { definePolicy } from "@headgate/core";
import { createCluster } from "redis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nodeRedisExecutor, type RedisStore, redisStore } from "../../src/index.js";
import { type RedisCluster, startCluster } from "../servers/cluster.js";
import { expectEveryKeyToExpire } from "../servers/expiry.js";
import { freshPrefix, patientMs } from "../servers/single.js";
import { until } from "../servers/until.js";

let cluster: RedisCluster;

beforeAll(async () => {
  cluster = await startCluster();
}, 60_000);

afterAll(async () => {
  for (const { client } of cluster.primaries) await expectEveryKeyToExpire(client);
  await cluster.stop();
});

const rule = { algorithm: "token-bucket", limit: 1, window: "24h" } as const;
const penalty = { after: 2, within: "1h", ban: "1h" } as const;
const guarded = definePolicy("guarded", { ...rule, penalty });
const loose = definePolicy("loose", { ...rule, limit: 50 });
const shadow = definePolicy("shadow", { ...rule, shadow: true, penalty });
const subjects = Array.from({ length: 60 }, (_, user) => `user=${user}`);

const openers: Readonly<Record<string, () => RedisStore>> = {
  ioredis: () => redisStore(cluster.connect(), { prefix: freshPrefix(), callTimeoutMs: patientMs }),
  "node-redis": () => {
    const rootNodes = cluster.primaries.map(({ server: { port } }) => ({
      url: `redis://127.0.0.1:${port}`,
    }));
    return redisStore(nodeRedisExecutor(createCluster({ rootNodes })), {
      prefix: freshPrefix(),
      callTimeoutMs: patientMs,
    });
  },
};

for (const [client, open] of Object.entries(openers)) {
  test(`over ${client}, lists the bans of every primary`, async () => {
    const store = open();
    await Promise.all(subjects.map((subject) => store.bans.set(guarded, subject, 60_000)));
    const told = await store.bans.list([guarded], 100);
    expect(told.map(({ subject }) => subject).sort()).toEqual([...subjects].sort());
    expect(await store.bans.list([guarded], 7)).toHaveLength(7);
    await store.close();
  });

  test(`over ${client}, bans where a leg refuses, gives the others back, and asks no shadow`, async () => {
    const store = open();
    const batch = subjects
      .slice(0, 6)
      .flatMap((subject) => [loose, shadow].map((policy) => ({ policy, subject, cost: 1 })));
    const target = { policy: guarded, subject: "user=target", cost: 1 };
    await store.apply([...batch, target], "commit");
    const refused = await store.apply([...batch, target], "commit");
    expect(refused.filter(({ allowed, policy }) => !allowed && !policy.shadow)).toHaveLength(1);
    const banned = await store.apply([...batch, target], "commit");
    expect(banned.at(-1)).toMatchObject({ allowed: false, remaining: 0 });
    expect(banned.at(-1)?.banMs).toBeGreaterThan(3_500_000);
    const looks = batch.map((charge) => ({ ...charge, cost: 0 }));
    await until(async () =>
      (await store.apply(looks, "peek")).every(
        ({ policy, remaining, banMs }) => banMs === 0 && (policy.shadow || remaining === 49),
      ),
    );
    const [admitted] = await store.apply(batch, "commit");
    expect(admitted?.allowed).toBe(true);
    await store.close();
  });
}
