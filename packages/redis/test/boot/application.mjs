// An application as users write it, which is started while Redis is down.
import { createLimiter, fixedWindow } from "@headgate/core";
import { decisionOf, rateLimits } from "@headgate/express";
import { redisStore } from "@headgate/redis";
import express from "express";
import { Redis } from "ioredis";

const redis = new Redis({ host: "127.0.0.1", port: Number(process.argv[2]) });
redis.on("error", () => {});

const limiter = createLimiter({
  // A busy machine must not make Redis look as if it were down.
  deadlineMs: 10_000,
  store: redisStore(redis, { callTimeoutMs: 10_000 }),
  policies: { api: fixedWindow({ limit: 10, window: "1h", anchor: "first-request" }) },
});
const app = express();
app.use(rateLimits({ limiter })("api"));
app.get("/", (req, res) => res.json({ degraded: decisionOf(req).degraded }));
const server = app.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
