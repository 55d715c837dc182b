import { createLimiter, memoryStore, slidingWindow, tokenBucket } from "@headgate/core";
import { sharedLimiter } from "@headgate/next";
import { redisStore } from "@headgate/redis";
import { Redis } from "ioredis";

const { REDIS_URL } = process.env;

// One limiter for all bundles of this process, and one count for all processes with REDIS_URL.
export const limiter = sharedLimiter("app", () =>
  createLimiter({
    store: REDIS_URL ? redisStore(new Redis(REDIS_URL, { lazyConnect: true })) : memoryStore(),
    policies: {
      pages: tokenBucket({ limit: 600, window: "1m", burst: 200 }),
      login: slidingWindow({ limit: 5, window: "1m" }),
      report: tokenBucket({ limit: 10, window: "1m" }),
      order: slidingWindow({ limit: 3, window: "2s" }),
    },
  }),
);

// One proxy stands in front and appends to X-Forwarded-For.
export const ip = { trustedProxies: 1 };
