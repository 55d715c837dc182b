import type { Millis } from "../clock.js";
import { defineUnnamed } from "./define.js";
import type { Duration } from "./duration.js";
import type {
  Counted,
  FailureMode,
  FixedWindow,
  KeyBy,
  LeakyBucket,
  MigrationRule,
  Penalty,
  PolicyNumbers,
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
  /**
   * Other numbers for callers of a tier, by its name. Whose tier changes keeps the count.
   */
  readonly tiers?: Readonly<Record<string, PolicyNumbers>>;
  /**
   * Which requests stay counted. All are counted when they arrive; what does not belong is given back once
   * the adapter, or `limiter.conclude`, knows how it went.
   * @default "all"
   */
  readonly count?: Counted;
  /**
   * What a success does under `count: "failures"`.
   * @default "refund"
   */
  readonly onSuccess?: "refund" | "clear";
  /** A ban after too many refusals, or failures. */
  readonly penalty?: PenaltyOptions;
  /**
   * How far beyond the capacity `limiter.settle` may charge.
   * @default 0
   */
  readonly debt?: number;
  /**
   * Decides and reports without being enforced.
   * @default false
   */
  readonly shadow?: boolean;
  /**
   * Raise it with each change, so that servers of both versions can work side by side.
   * @default 1
   */
  readonly version?: number;
  /**
   * What happens to live counts of a lower version.
   * @default "keep"
   */
  readonly migrate?: MigrationRule;
}

/** When a subject is banned, and for how long. */
export interface PenaltyOptions {
  /**
   * What counts: refusals by this policy, requests that fail, or nothing but `limiter.ban`.
   * @default "refusals"
   */
  readonly on?: Penalty["on"];
  /** How many lead to a ban. */
  readonly after?: number;
  /** How long they are remembered, from the first one on. */
  readonly within?: Duration;
  /** How long the ban lasts. */
  readonly ban?: Duration;
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
