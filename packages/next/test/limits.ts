import {
  createLimiter,
  fixedWindow,
  type Limiter,
  leakyBucket,
  slidingWindow,
} from "@headgate/core";
import { NextRequest } from "next/server.js";

const nowMs = 1_700_000_000_123;

/** What all mounts in these tests share: one trusted proxy, and a wall clock that stands still. */
export const shared = { ip: { trustedProxies: 1 }, wallClock: (): number => nowMs };

export type TestPolicy = "small" | "large" | "perAccount" | "queue" | "otherQueue";

/** A limiter of its own for each test, whose clock stands still. */
export function testLimiter(): Limiter<TestPolicy> {
  return createLimiter({
    clock: { now: () => nowMs },
    policies: {
      small: fixedWindow({ limit: 2, window: "1m" }),
      large: fixedWindow({ limit: 10, window: "1m" }),
      perAccount: slidingWindow({ limit: 3, window: "1m", by: "account" }),
      queue: leakyBucket({ limit: 10, window: "1s", queue: 5 }),
      otherQueue: leakyBucket({ limit: 10, window: "1s", queue: 5 }),
    },
  });
}

interface RequestDetails {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** A request as a proxy gets it, from 203.0.113.1 unless the headers say otherwise. */
export function requestTo(path: string, { headers, ...details }: RequestDetails = {}): NextRequest {
  return new NextRequest(`https://shop.example${path}`, {
    ...details,
    headers: { "x-forwarded-for": "203.0.113.1", ...headers },
  });
}
