// Four processes behind one port, with one limit: what any of them admits counts for all. Needs REDIS_URL.
import cluster from "node:cluster";
import { createLimiter, slidingWindow } from "@headgate/core";
import { decisionOf, rateLimits } from "@headgate/express";
import { redisStore } from "@headgate/redis";
import express from "express";
import { Redis } from "ioredis";

const processes = 4;
const port = Number(process.env.PORT ?? 3000);
const deadlineMs = Number(process.env.DEADLINE_MS ?? 200);

if (cluster.isPrimary) startWorkers();
else await serve();

function startWorkers() {
  if (process.env.REDIS_URL === undefined) {
    console.error("express-cluster: set REDIS_URL, such as redis://127.0.0.1:6379");
    process.exit(1);
  }
  let listening = 0;
  for (let count = 0; count < processes; count += 1) cluster.fork();
  cluster.on("listening", () => {
    listening += 1;
    if (listening === processes) console.log(`${processes} processes at http://127.0.0.1:${port}`);
  });
  // A worker that crashes is replaced; its successor finds all counts in Redis.
  cluster.on("exit", (worker) => {
    if (!worker.exitedAfterDisconnect) cluster.fork();
  });
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.on(signal, () => {
      cluster.disconnect(() => process.exit());
    });
  }
}

async function serve() {
  const limiter = createLimiter({
    deadlineMs,
    store: redisStore(new Redis(process.env.REDIS_URL, { lazyConnect: true }), {
      callTimeoutMs: deadlineMs,
    }),
    policies: {
      // While Redis is down each process enforces its share, so that all of them keep about the limit.
      perIp: slidingWindow({ limit: 20, window: "10s", localShare: 1 / processes }),
    },
  });
  const limit = rateLimits({ limiter });
  // Connects before the first client comes. While Redis is down this only takes the deadline.
  await limiter.peek("perIp", { ip: "127.0.0.1" });

  const app = express();
  app.disable("x-powered-by");
  app.use(limit("perIp"));
  app.get("/", (req, res) => {
    res.json({ process: process.pid, left: decisionOf(req).remaining });
  });
  const server = app.listen(port);

  process.on("SIGINT", () => {}); // Ctrl+C reaches every process; the primary ends the others.
  process.on("disconnect", async () => {
    server.close();
    await limiter.close();
  });
}
