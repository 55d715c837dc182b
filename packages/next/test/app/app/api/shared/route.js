import { createLimiter, fixedWindow } from "@headgate/core";
import { sharedLimiter, withRateLimit } from "@headgate/next";
import { redisStore } from "@headgate/redis";
import { Redis } from "ioredis";

// Generous times, so that a busy machine does not turn into an outage.
const callTimeoutMs = 20_000;

const limiter = sharedLimiter("shared", () =>
  createLimiter({
    store: redisStore(
      new Redis(process.env.REDIS_URL ?? "redis://127.0.0.1:1", { lazyConnect: true }),
      { callTimeoutMs },
    ),
    deadlineMs: callTimeoutMs,
    policies: { shared: fixedWindow({ limit: 7, window: "1h" }) },
  }),
);

export const POST = withRateLimit(() => new Response("admitted"), {
  limiter,
  ip: { trustedProxies: 1 },
  policies: ["shared"],
});
