// One of the processes that race for a limit. Told of a policy, it makes ready; told to go, it asks as often
// as it was told to and says how often it was admitted.
import { definePolicy } from "@headgate/core";
import { redisStore } from "@headgate/redis";
import { Cluster, Redis } from "ioredis";

const { ports, cluster } = JSON.parse(process.argv[2]);
const nodes = ports.map((port) => ({ host: "127.0.0.1", port }));
const client = cluster
  ? new Cluster(nodes, { lazyConnect: true })
  : new Redis({ ...nodes[0], lazyConnect: true });
const store = redisStore(client, { callTimeoutMs: 10_000 });

process.on("message", async ({ name, definition, attempts }) => {
  const charge = { policy: definePolicy(name, definition), subject: "user=1", cost: 1 };
  if (attempts === undefined) {
    await store.apply([{ ...charge, cost: 0 }], "peek");
    process.send({ ready: true, wallClockMs: Date.now(), monotonicMs: performance.now() });
    return;
  }
  let admitted = 0;
  for (let sent = 0; sent < attempts; sent += 25) {
    const calls = Array.from({ length: 25 }, () => store.apply([charge], "commit"));
    for (const [{ allowed }] of await Promise.all(calls)) if (allowed) admitted += 1;
  }
  process.send({ admitted });
});

process.on("disconnect", () => process.exit());
