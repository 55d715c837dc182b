import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import calculateSlot from "cluster-key-slot";
import { afterEach, expect, test, vi } from "vitest";
import {
  type ClusterNode,
  moveSlot,
  type RedisCluster,
  slotsOf,
  startCluster,
  watchEachOther,
} from "../servers/cluster.js";
import { expectEveryKeyToExpire } from "../servers/expiry.js";
import { patientMs } from "../servers/single.js";
import { identityOf, limit, Triples, triples } from "./triples.js";

const attempts = 2 * limit;
let cluster: RedisCluster;
let clients: Triples;

afterEach(async () => {
  await clients.close();
  await cluster.stop();
});

test("admits exactly the limit of 1,000 clients with three subjects each while slots move", async () => {
  cluster = await startCluster();
  clients = new Triples(cluster, patientMs);
  const [from, to] = cluster.primaries as [ClusterNode, ClusterNode];
  await clients.wave();
  const traffic = async (): Promise<void> => {
    for (let count = 1; count < attempts; count += 1) await clients.wave();
  };
  const reshard = async (): Promise<number> => {
    let moved = 0;
    for (const slot of (await slotsOf(from)).slice(0, 1_000)) {
      moved += await moveSlot(slot, { from, to, all: cluster.primaries });
    }
    return moved;
  };
  const [moved] = await Promise.all([reshard(), traffic()]);
  console.log(`keys moved under load: ${moved}`);
  expect(moved).toBeGreaterThan(50);
  expect(clients.errors).toEqual([]);
  expect(clients.admitted.filter((count) => count !== limit)).toEqual([]);
  expect(clients.store.lostRefunds).toBe(0);
  for (const client of [0, 1, 2, 500, triples - 1]) {
    await vi.waitFor(async () => {
      expect(await clients.remaining(client, "daily")).toBe(1);
      expect(await clients.remaining(client, "middle")).toBe(2);
      expect(await clients.remaining(client, "wide")).toBe(4);
    });
  }
  for (const { client } of cluster.primaries) await expectEveryKeyToExpire(client);
}, 60_000);

test("admits at most the limit and what the replica had not acknowledged when a primary is killed", async () => {
  cluster = await startCluster();
  clients = new Triples(cluster, 2_000);
  const victim = cluster.primaries[0] as ClusterNode;
  const victimSlots = new Set(await slotsOf(victim));
  const marker = `{${keyOfSlot(victimSlots)}}:marker`;
  await clients.wave();
  await clients.wave();

  // Everything answered before this instant was written before the marker, which the replica has.
  const acknowledgedAt = performance.now();
  await victim.client.set(marker, "1", "PX", 60_000);
  expect(await victim.client.wait(1, 5_000)).toBe(1);
  const [replica, ...others] = cluster.replicas as [ClusterNode, ...ClusterNode[]];
  // On a busy machine a primary that lives may seem dead to the others.
  for (const { client } of others) await client.config("SET", "cluster-replica-no-failover", "yes");
  await watchEachOther(cluster);
  replica.server.process.kill("SIGSTOP");
  await victim.client.call("CLIENT", "KILL", "TYPE", "replica");
  await clients.wave();
  const killedAt = performance.now();
  victim.server.process.kill("SIGKILL");
  await once(victim.server.process, "exit");
  replica.server.process.kill("SIGCONT");

  let waves = 0;
  let backMs = 0;
  while (waves < attempts) {
    const decided = await clients.wave();
    if (decided < triples) {
      expect(performance.now() - killedAt, "ms until Redis decides again").toBeLessThan(20_000);
      await pause(50);
      continue;
    }
    if (waves === 0) backMs = performance.now() - killedAt;
    waves += 1;
  }

  let [over, unacknowledged] = [0, 0];
  for (let client = 0; client < triples; client += 1) {
    const { user } = identityOf(client);
    const onVictim = victimSlots.has(calculateSlot(`{user=${user}}`));
    const lost = (clients.admittedAt[client] as number[]).filter(
      (at) => onVictim && at >= acknowledgedAt && at <= killedAt,
    ).length;
    unacknowledged += lost;
    over += Math.max(0, (clients.admitted[client] as number) - limit);
    expect(clients.admitted[client], `client ${client}`).toBeLessThanOrEqual(limit + lost);
  }
  const codes = new Set(clients.errors.map(({ code }) => code));
  console.log(
    `killed primary: ${unacknowledged} writes not acknowledged, ${over} admitted over the limits, decided by Redis again after ${Math.round(backMs)} ms, ${clients.errors.length} requests answered 503 (${[...codes].join(", ")})`,
  );
  expect(clients.errors.map(({ message }) => message).join("\n")).not.toMatch(/CROSSSLOT/);
  expect(unacknowledged).toBeGreaterThan(0);
}, 60_000);

/** Text whose hash slot is one of these. */
function keyOfSlot(slots: ReadonlySet<number>): string {
  for (let count = 0; ; count += 1) if (slots.has(calculateSlot(`m${count}`))) return `m${count}`;
}
