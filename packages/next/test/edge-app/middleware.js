import { createLimiter, tokenBucket } from "@headgate/core";
import { rateLimitProxy } from "@headgate/next";
import { redisStore } from "@headgate/redis";
import { Redis } from "ioredis";

const limiter = createLimiter({
  store: redisStore(new Redis(process.env.REDIS_URL)),
  policies: { api: tokenBucket({ limit: 5, window: "1m" }) },
});

export const middleware = rateLimitProxy({
  limiter,
  ip: { trustedProxies: 1 },
  rules: [{ path: "/:path*", policies: ["api"] }],
});
