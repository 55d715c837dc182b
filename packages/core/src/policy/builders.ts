import type { Millis } from "../clock.js";
import { defineUnnamed } from "./define.js";
import type { Duration } from "./duration.js";
import type {
  FailureMode,
  FixedWindow,
  KeyBy,
  LeakyBucket,
  SlidingWindow,
  SlidingWindowCounter,
  TokenBucket,
} from "./policy.js";

/** What every builder takes. */
export interface PolicyOptions {
  /** Requests per window, an integer from 1. */
  readonly limit: number;
  /** The window: milliseconds, or text such as `"10s"`, `"1m"`, `"24h"`. */
  readonly window: Duration;
  /**
   * Whom to count: an identity part, several together, the first that is known, or `"global"`.
   * @default "ip"
   */
  readonly by?: KeyBy;
  /** The name; where a policy is registered under a key, the key is its name. */
  readonly name?: string;
  /**
   * What happens while the store fails.
   * @default "local"
   */
  readonly onStoreFailure?: FailureMode;
  /**
   * The share of the limit that each process grants in mode `"local"`, above 0 and at most 1.
   * @default 1
   */
  readonly localShare?: number;
}

type Unnamed<P> = Omit<P, "name"> & { readonly name?: string };

/**
 * Counts requests in windows that do not overlap; the count starts again at each boundary.
 * Up to twice the limit can pass around a boundary.
 *
 * @throws HeadgateError `INVALID_POLICY`, as every builder does, naming each broken rule.
 */
export function fixedWindow(
  options: PolicyOptions & {
    /**
     * Windows on the clock's grid, or opened by a client's first request.
     * @default "clock"
     */
    readonly anchor?: FixedWindow["anchor"];
  },
): Unnamed<FixedWindow> {
  return defineUnnamed({ ...options, algorithm: "fixed-window" }) as Unnamed<FixedWindow>;
}

/** Never more than the limit in any trailing window, exactly; remembers one instant per admitted request. */
export function slidingWindow(options: PolicyOptions): Unnamed<SlidingWindow> {
  return defineUnnamed({ ...options, algorithm: "sliding-window" }) as Unnamed<SlidingWindow>;
}

/** A sliding window from two counters: constant memory, and up to `2 * limit - 1` in one trailing window. */
export function slidingWindowCounter(options: PolicyOptions): Unnamed<SlidingWindowCounter> {
  return defineUnnamed({
    ...options,
    algorithm: "sliding-window-counter",
  }) as Unnamed<SlidingWindowCounter>;
}

/** A steady rate with a burst that an idle client may spend at once. */
export function tokenBucket(
  options: PolicyOptions & {
    /**
     * How many requests can be saved up.
     * @default the limit
     */
    readonly burst?: number;
  },
): Unnamed<TokenBucket> {
  return defineUnnamed({ ...options, algorithm: "token-bucket" }) as Unnamed<TokenBucket>;
}

/** A queue that lets requests leave at a fixed rate: early ones are held, and refused when the queue is full. */
export function leakyBucket(
  options: PolicyOptions & {
    /** How many requests may wait behind the one that leaves now; an integer from 0. */
    readonly queue: number;
    /**
     * The longest hold; a queue that could ask for more is an error.
     * @default 10000
     */
    readonly maxDelayMs?: Millis;
  },
): Unnamed<LeakyBucket> {
  return defineUnnamed({ ...options, algorithm: "leaky-bucket" }) as Unnamed<LeakyBucket>;
}
