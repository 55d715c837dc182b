import { readFileSync } from "node:fs";
import { definePolicy } from "@headgate/core";
import { Cluster, Redis } from "ioredis";
import { expect, test } from "vitest";
import { redisStore } from "../../src/index.js";
import { startCluster } from "../servers/cluster.js";
import { startRedisServer } from "../servers/redis-server.js";
import { patientMs } from "../servers/single.js";

const always =
  "-@all +hello +info +evalsha +eval +time +get +set +getrange +setrange +pttl +pexpire +del +scan";
const inCluster = "+cluster|slots +cluster|info +client|setname +asking +readonly";

const host = "127.0.0.1";
const username = "limiter";
const password = "secret";
const rule = { limit: 2_000, window: "1h" } as const;
const policies = [
  definePolicy("fixed", { ...rule, algorithm: "fixed-window" }),
  definePolicy("log", { ...rule, algorithm: "sliding-window" }),
  definePolicy("counter", { ...rule, algorithm: "sliding-window-counter" }),
  definePolicy("bucket", { ...rule, algorithm: "token-bucket" }),
  definePolicy("queue", { ...rule, algorithm: "leaky-bucket", queue: 1, maxDelayMs: 10_000 }),
];

const guarded = definePolicy("guarded", {
  ...{ ...rule, algorithm: "fixed-window" },
  penalty: { on: "failures", after: 1, within: "1h", ban: "1h" },
  debt: 5,
});

/** Uses everything that a store does. */
async function useEverything(client: Redis | Cluster): Promise<void> {
  const store = redisStore(client, { callTimeoutMs: patientMs });
  try {
    for (let round = 0; round < 3; round += 1) {
      for (const policy of policies) {
        const charge = { policy, subject: `user=${round}`, cost: 1 };
        await store.apply([{ ...charge, cost: 0 }], "peek");
        const [outcome] = await store.apply([charge], "commit", true);
        expect(outcome?.allowed).toBe(true);
        await store.apply([{ ...charge, cost: policy.limit }], "commit");
        if (outcome?.receipt !== undefined) await store.refund([outcome.receipt]);
        await store.apply([charge], "commit");
        await store.reset(policy, charge.subject);
      }
      const subject = `user=${round}`;
      await store.apply([{ policy: guarded, subject, cost: 1 }], "settle");
      await store.bans.strike(guarded, subject);
      await store.reset(guarded, subject, true);
      expect(await store.bans.list([guarded], 10)).toHaveLength(1);
      await store.bans.set(guarded, subject, 0);
    }
    expect(store.lostRefunds).toBe(0);
  } finally {
    await store.close();
  }
}

function rulesOf(commands: string): readonly string[] {
  return [
    "on",
    `>${password}`,
    "resetkeys",
    "~headgate:*",
    "resetchannels",
    ...commands.split(" "),
  ];
}

test("is documented with the commands that it needs", () => {
  const page = readFileSync(new URL("../../../../docs/redis.md", import.meta.url), "utf8");
  expect(page).toContain(`resetchannels ${always}\n`);
  expect(page).toContain(`\n${inCluster}\n`);
});

test("works for a user who may run only the documented commands, and tries no other", async () => {
  const server = await startRedisServer();
  const admin = new Redis({ port: server.port, host });
  await admin.acl("SETUSER", username, ...rulesOf(always));
  const client = new Redis({ port: server.port, host, username, password, lazyConnect: true });
  try {
    await useEverything(client);
    expect(await admin.acl("LOG")).toEqual([]);
  } finally {
    client.disconnect();
    admin.disconnect();
    await server.stop();
  }
});

test("works in a cluster for a user who may run only the documented commands, and tries no other", async () => {
  const cluster = await startCluster();
  const nodes = [...cluster.primaries, ...cluster.replicas];
  for (const { client } of nodes) {
    await client.acl("SETUSER", username, ...rulesOf(`${always} ${inCluster}`));
  }
  const client = new Cluster(
    nodes.map(({ server }) => ({ host, port: server.port })),
    { lazyConnect: true, redisOptions: { username, password } },
  );
  try {
    await useEverything(client);
    for (const node of nodes) expect(await node.client.acl("LOG")).toEqual([]);
  } finally {
    client.disconnect();
    await cluster.stop();
  }
});
