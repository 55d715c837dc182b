// An Express application with a limiter in memory and one over Redis, whose clients change all the time. The
// first message starts it, and each further one asks for what the process holds. Needs --expose-gc.
import { once } from "node:events";
import { createLimiter, fixedWindow, tokenBucket } from "@headgate/core";
import { rateLimits } from "@headgate/express";
import { redisStore } from "@headgate/redis";
import express from "express";
import { connect } from "../contestants/connection.mjs";
import { answer } from "./process-of.mjs";

/** Short, so that keys expire and are swept all the while. */
const windowMs = 5_000;
const clients = 100_000;

answer(({ ports }) => (ports === undefined ? held() : start(ports)));

async function start(ports) {
  const perIp = fixedWindow({ limit: 50, window: windowMs, by: "client" });
  const shared = tokenBucket({ limit: 100, window: windowMs, burst: 20, by: "client" });
  const memory = createLimiter({ policies: { perIp } });
  const redis = createLimiter({
    store: redisStore(await connect({ ports })),
    policies: { shared },
  });
  let request = 0;
  const identify = () => {
    request += 1;
    return { client: String(request % clients) };
  };
  const application = express();
  application.use(rateLimits({ limiter: memory, identify })("perIp"));
  application.use(rateLimits({ limiter: redis, identify })("shared"));
  application.get("/", (_request, response) => {
    response.end("ok");
  });
  const server = application.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: server.address().port };
}

function held() {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return {
    megabytes: (heapUsed + external) / 1e6,
    resources: process.getActiveResourcesInfo().length,
  };
}
