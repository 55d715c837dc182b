import type { Millis } from "../clock.js";

/** The five algorithms, by the names that policies, files and scripts use. */
export type AlgorithmName =
  | "fixed-window"
  | "sliding-window"
  | "sliding-window-counter"
  | "token-bucket"
  | "leaky-bucket";

/** What happens to a policy's requests while its store fails: see `docs/failure-modes.md`. */
export type FailureMode = "local" | "open" | "closed";

/** The name of an identity part (`"ip"`, `"user"`, …), or several that form one key together. */
export type KeyParts = string | readonly string[];

/** Whom a policy counts: identity parts, the first complete one of several, or everybody (`"global"`). */
export type KeyBy = KeyParts | { readonly firstOf: readonly KeyParts[] };

/** The numbers of a policy that may differ from one caller to another while they share its state. */
export interface PolicyNumbers {
  readonly limit: number;
  /** Token bucket; the limit where neither this nor the policy says otherwise. */
  readonly burst?: number;
  /** Leaky bucket. */
  readonly queue?: number;
}

/** Which requests stay counted: all, only those that failed, or only those that succeeded. */
export type Counted = "all" | "failures" | "successes";

/** What happens to the live state of a policy when one of a higher version takes its place. */
export type MigrationRule = "keep" | "scale" | "reset";

/** A ban for a subject that is refused, or fails, too often. It counts for itself, beside the allowance. */
export interface Penalty {
  /** What is counted; under `"manual"` nothing is, and only `limiter.ban` bans. */
  readonly on: "refusals" | "failures" | "manual";
  /** How many of them lead to a ban. */
  readonly after: number;
  /** How long they are remembered, from the first of them on. */
  readonly withinMs: Millis;
  readonly banMs: Millis;
}

interface PolicyFields<A extends AlgorithmName> {
  readonly name: string;
  readonly algorithm: A;
  /** Requests per window; an integer from 1. */
  readonly limit: number;
  readonly windowMs: Millis;
  readonly by: KeyBy;
  readonly onStoreFailure: FailureMode;
  /** The share of the limit that one process grants by itself while the store is down, above 0 and at most 1. */
  readonly localShare: number;
  /** Other numbers for callers of a tier. A tier is no part of the key: who changes it keeps the count. */
  readonly tiers: Readonly<Record<string, PolicyNumbers>> | undefined;
  readonly count: Counted;
  /** What a success does under `count: "failures"`: it is given back, or it clears the subject's count. */
  readonly onSuccess: "refund" | "clear";
  readonly penalty: Penalty | undefined;
  /** How far beyond the capacity `settle` may charge; an integer from 0. */
  readonly debt: number;
  /** Decided and reported, never enforced. */
  readonly shadow: boolean;
  /** An integer from 1, raised with each change. */
  readonly version: number;
  readonly migrate: MigrationRule;
}

/** At most `limit` in each window of the clock's grid, or of a window that the first request opens. */
export interface FixedWindow extends PolicyFields<"fixed-window"> {
  readonly anchor: "clock" | "first-request";
}

/** At most `limit` in any trailing window, exactly. */
export type SlidingWindow = PolicyFields<"sliding-window">;

/** The constant-memory approximation of the sliding window, with two counters. */
export type SlidingWindowCounter = PolicyFields<"sliding-window-counter">;

/** `limit` tokens per window come back continuously; at most `burst` can be saved up. */
export interface TokenBucket extends PolicyFields<"token-bucket"> {
  readonly burst: number;
}

/** Requests leave at a fixed rate of `limit` per window; up to `queue` of them wait their turn. */
export interface LeakyBucket extends PolicyFields<"leaky-bucket"> {
  readonly queue: number;
  /** The longest hold that the configuration may ask of a request. */
  readonly maxDelayMs: Millis;
}

/** One limit: frozen, JSON-safe data. Made by a builder or by `definePolicy`, never by hand. */
export type Policy = FixedWindow | SlidingWindow | SlidingWindowCounter | TokenBucket | LeakyBucket;

/** What a builder returns: a checked policy that may still wait for the name it is registered under. */
export type PolicyDefinition = Policy extends infer P
  ? P extends Policy
    ? Omit<P, "name"> & { readonly name?: string }
    : never
  : never;
