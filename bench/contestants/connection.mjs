import { Cluster, Redis } from "ioredis";

/** A client of the server, or of the cluster, that listens on these ports, connected. */
export async function connect({ ports }, options = {}) {
  const nodes = ports.map((port) => ({ host: "127.0.0.1", port }));
  const client =
    ports.length === 1 ? new Redis({ ...nodes[0], ...options }) : new Cluster(nodes, options);
  await client.ping();
  return client;
}
