import { createLimiter, fixedWindow, leakyBucket } from "@headgate/core";
import { sharedLimiter } from "@headgate/next";

// The clock stands still, so that every number of every response is known.
export const nowMs = 1_700_000_000_123;

export const limiter = sharedLimiter("test", () =>
  createLimiter({
    clock: { now: () => nowMs },
    policies: {
      // A page of links is asked for along with what its links prefetch.
      browse: fixedWindow({ limit: 300, window: "1m" }),
      page: fixedWindow({ limit: 5, window: "1m" }),
      login: fixedWindow({ limit: 2, window: "1m" }),
      action: fixedWindow({ limit: 2, window: "1m" }),
      route: fixedWindow({ limit: 3, window: "1m" }),
      tries: fixedWindow({ limit: 2, window: "1m", count: "failures" }),
      held: leakyBucket({ limit: 5, window: "1s", queue: 2 }),
    },
  }),
);

export const shared = { limiter, ip: { trustedProxies: 1 }, wallClock: () => nowMs };
