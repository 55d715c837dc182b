import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import {
  freePort,
  launch,
  makeFolder,
  type RedisServer,
  startRedisServer,
} from "./redis-server.js";
import { until } from "./until.js";

/** A primary and a replica under three sentinels. */
export interface SentinelGroup {
  readonly primary: RedisServer;
  readonly replica: RedisServer;
  /** A client for the user's part, which `stop` disconnects. */
  connect(): Redis;
  stop(): Promise<void>;
}

const group = "headgate";

/** Starts 1 primary, 1 replica and 3 sentinels, and waits until the sentinels know all the others. */
export async function startSentinelGroup(): Promise<SentinelGroup> {
  const servers: RedisServer[] = [];
  const clients: Redis[] = [];
  const stop = async (): Promise<void> => {
    for (const client of clients) client.disconnect();
    await Promise.all(servers.map((server) => server.stop()));
  };
  try {
    const primary = await startRedisServer(["--repl-diskless-sync-delay", "0"]);
    servers.push(primary);
    const replica = await startRedisServer(["--replicaof", `127.0.0.1 ${primary.port}`]);
    servers.push(replica);
    await withClient(replica.port, (client) =>
      until(async () => (await client.info("replication")).includes("master_link_status:up")),
    );
    for (let count = 0; count < 3; count += 1) servers.push(await startSentinel(primary.port));
    const ports = servers.slice(2).map(({ port }) => port);
    for (const port of ports) await withClient(port, knowsTheOthers);
    const connect = (): Redis => {
      const sentinels = ports.map((port) => ({ host: "127.0.0.1", port }));
      const client = new Redis({ sentinels, name: group, lazyConnect: true });
      client.on("error", () => undefined);
      clients.push(client);
      return client;
    };
    return { primary, replica, connect, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startSentinel(primaryPort: number): Promise<RedisServer> {
  const [port, folder] = [await freePort(), makeFolder()];
  const configuration = join(folder, "sentinel.conf");
  const lines = [
    `port ${port}`,
    "bind 127.0.0.1",
    `dir ${folder}`,
    `sentinel monitor ${group} 127.0.0.1 ${primaryPort} 2`,
    `sentinel down-after-milliseconds ${group} 500`,
    `sentinel failover-timeout ${group} 3000`,
  ];
  writeFileSync(configuration, `${lines.join("\n")}\n`);
  const server = await launch([configuration, "--sentinel"], { port, folder });
  // Sentinels greet each other every 2 s and look at replicas every 10 s: too seldom for a test.
  await withClient(port, (client) =>
    client.call("SENTINEL", "DEBUG", "INFO-PERIOD", "200", "PUBLISH-PERIOD", "100"),
  );
  return server;
}

async function knowsTheOthers(client: Redis): Promise<void> {
  await until(async () => {
    const fields = (await client.call("SENTINEL", "MASTER", group)) as string[];
    const field = (name: string): string | undefined => fields[fields.indexOf(name) + 1];
    return field("num-other-sentinels") === "2" && field("num-slaves") === "1";
  });
}

async function withClient<T>(port: number, body: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis({ port, host: "127.0.0.1", enableReadyCheck: false });
  try {
    return await body(client);
  } finally {
    client.disconnect();
  }
}
