import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { freePort, startRedis } from "./redis.mjs";

const slots = 16_384;
const size = 3;

/** Starts a cluster of 3 primaries without replicas, and waits until every node finds it whole. */
export async function startCluster() {
  const nodes = [];
  const stop = async () => {
    for (const { client } of nodes) client.disconnect();
    await Promise.all(nodes.map(({ server }) => server.stop()));
  };
  try {
    for (let count = 0; count < size; count += 1) nodes.push(await startNode());
    await join(nodes);
    return { ports: nodes.flatMap(({ server }) => server.ports), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startNode() {
  const busPort = await freePort();
  const server = await startRedis(["--cluster-enabled", "yes", "--cluster-port", String(busPort)]);
  const client = new Redis({ port: server.ports[0], host: "127.0.0.1" });
  return { server, client, busPort };
}

async function join(nodes) {
  const share = Math.ceil(slots / size);
  for (const [index, { client }] of nodes.entries()) {
    await client.cluster("SET-CONFIG-EPOCH", index + 1);
    await client.cluster("ADDSLOTSRANGE", index * share, Math.min(slots, (index + 1) * share) - 1);
  }
  const [first, ...others] = nodes;
  for (const { client } of others)
    await client.call(
      "CLUSTER",
      "MEET",
      "127.0.0.1",
      String(first.server.ports[0]),
      String(first.busPort),
    );
  for (;;) {
    const states = await Promise.all(nodes.map(({ client }) => client.cluster("INFO")));
    if (states.every(isWhole)) return;
    await pause(20);
  }
}

function isWhole(state) {
  return state.includes("cluster_state:ok") && state.includes(`cluster_known_nodes:${size}`);
}
