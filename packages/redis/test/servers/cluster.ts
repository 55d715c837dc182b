import { Cluster, Redis } from "ioredis";
import { freePort, type RedisServer, startRedisServer } from "./redis-server.js";
import { until } from "./until.js";

/** A server of a cluster, with a client of the test's own to it. */
export interface ClusterNode {
  readonly server: RedisServer;
  readonly client: Redis;
  readonly id: string;
}

/** Three primaries with a replica each. */
export interface RedisCluster {
  readonly primaries: readonly ClusterNode[];
  /** In the order of their primaries. */
  readonly replicas: readonly ClusterNode[];
  /** A client for the user's part, which `stop` disconnects. */
  connect(): Cluster;
  stop(): Promise<void>;
}

const slots = 16_384;
/** Soon, so that nodes get to know each other soon, and that a replica takes over soon. */
const nodeTimeoutMs = 1_000;
/** So late that on a busy machine no node takes another for dead. */
const patientTimeoutMs = 20_000;

/** Starts a cluster of 3 primaries and 3 replicas and waits until every node finds it whole. */
export async function startCluster(): Promise<RedisCluster> {
  const nodes: ClusterNode[] = [];
  const clients: Cluster[] = [];
  const stop = async (): Promise<void> => {
    for (const client of clients) client.disconnect();
    for (const { client } of nodes) client.disconnect();
    await Promise.all(nodes.map(({ server }) => server.stop()));
  };
  try {
    for (let count = 0; count < 6; count += 1) nodes.push(await startNode());
    const [primaries, replicas] = [nodes.slice(0, 3), nodes.slice(3)];
    await join(primaries, replicas);
    await setNodeTimeout(nodes, patientTimeoutMs);
    const connect = (): Cluster => {
      const addresses = nodes.map(({ server }) => ({ host: "127.0.0.1", port: server.port }));
      const client = new Cluster(addresses, { lazyConnect: true });
      client.on("error", () => undefined);
      clients.push(client);
      return client;
    };
    return { primaries, replicas, connect, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Makes nodes find out soon that another one is dead, as those of `startCluster` do not. */
export function watchEachOther({ primaries, replicas }: RedisCluster): Promise<void> {
  return setNodeTimeout([...primaries, ...replicas], nodeTimeoutMs);
}

/** The slots that a node serves, as it says itself. */
export async function slotsOf({ client, id }: ClusterNode): Promise<readonly number[]> {
  const line = (await nodesSeenBy(client)).find((seen) => seen.startsWith(id));
  const ranges = (line ?? "").split(" ").slice(8);
  return ranges.flatMap((range) => {
    const [from, to = from] = range.split("-").map(Number) as [number, number?];
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
}

/** Moves a slot with its keys while the cluster serves it. */
export async function moveSlot(
  slot: number,
  { from, to, all }: { from: ClusterNode; to: ClusterNode; all: readonly ClusterNode[] },
): Promise<number> {
  await to.client.cluster("SETSLOT", slot, "IMPORTING", from.id);
  await from.client.cluster("SETSLOT", slot, "MIGRATING", to.id);
  let moved = 0;
  for (;;) {
    // Few at a time, so that the keys of one subject are apart for a moment.
    const keys = (await from.client.cluster("GETKEYSINSLOT", slot, 1)) as string[];
    if (keys.length === 0) break;
    await from.client.migrate("127.0.0.1", to.server.port, "", 0, 1_000, "KEYS", ...keys);
    moved += keys.length;
  }
  for (const { client } of [to, from, ...all.filter((node) => node !== to && node !== from)]) {
    await client.cluster("SETSLOT", slot, "NODE", to.id);
  }
  return moved;
}

async function setNodeTimeout(nodes: readonly ClusterNode[], timeoutMs: number): Promise<void> {
  for (const { client } of nodes) await client.config("SET", "cluster-node-timeout", timeoutMs);
}

async function startNode(): Promise<ClusterNode> {
  const args = ["--cluster-enabled", "yes", "--cluster-port", String(await freePort())];
  const timeout = ["--cluster-node-timeout", String(nodeTimeoutMs)];
  const server = await startRedisServer([...args, ...timeout, "--repl-diskless-sync-delay", "0"]);
  const client = new Redis({ port: server.port, host: "127.0.0.1" });
  client.on("error", () => undefined);
  return { server, client, id: String(await client.cluster("MYID")) };
}

async function join(
  primaries: readonly ClusterNode[],
  replicas: readonly ClusterNode[],
): Promise<void> {
  const nodes = [...primaries, ...replicas];
  const share = Math.ceil(slots / primaries.length);
  for (const [index, { client }] of nodes.entries()) {
    await client.cluster("SET-CONFIG-EPOCH", index + 1);
  }
  for (const [index, { client }] of primaries.entries()) {
    const last = Math.min(slots, (index + 1) * share) - 1;
    await client.cluster("ADDSLOTSRANGE", index * share, last);
  }
  const [first, ...others] = nodes as [ClusterNode, ...ClusterNode[]];
  const port = first.server.port;
  const [, busPort] = /:\d+@(\d+)/.exec(
    (await nodesSeenBy(first.client)).join("\n"),
  ) as unknown as [string, string];
  for (const { client } of others) {
    await client.call("CLUSTER", "MEET", "127.0.0.1", String(port), busPort);
  }
  await until(async () => {
    const seen = await Promise.all(nodes.map(({ client }) => nodesSeenBy(client)));
    return seen.every((lines) => lines.filter((line) => !/handshake|fail/.test(line)).length === 6);
  });
  for (const [index, { client }] of replicas.entries()) {
    await client.cluster("REPLICATE", (primaries[index] as ClusterNode).id);
  }
  await until(async () => {
    const states = await Promise.all(nodes.map(({ client }) => client.cluster("INFO")));
    const links = await Promise.all(replicas.map(({ client }) => client.info("replication")));
    return (
      states.every((state) => String(state).includes("cluster_state:ok")) &&
      links.every((link) => link.includes("master_link_status:up"))
    );
  });
}

async function nodesSeenBy(client: Redis): Promise<readonly string[]> {
  return String(await client.cluster("NODES"))
    .trim()
    .split("\n");
}
