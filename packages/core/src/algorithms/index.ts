import type { AlgorithmName } from "../policy/policy.js";
import type { Algorithm } from "./algorithm.js";
import { fixedWindow } from "./fixed-window.js";
import { leakyBucket } from "./leaky-bucket.js";
import { slidingWindow } from "./sliding-window.js";
import { slidingWindowCounter } from "./sliding-window-counter.js";
import { tokenBucket } from "./token-bucket.js";

/** An algorithm behind the seam, its own types set aside: a policy's `algorithm` picks the right one. */
// biome-ignore lint/suspicious/noExplicitAny: the table is where five pairs of policy and state types meet
export type AnyAlgorithm = Algorithm<any, any>;

/** A row for each algorithm. */
export type AlgorithmTable = Readonly<Record<AlgorithmName, AnyAlgorithm>>;

export const algorithms: AlgorithmTable = {
  "fixed-window": fixedWindow,
  "sliding-window": slidingWindow,
  "sliding-window-counter": slidingWindowCounter,
  "token-bucket": tokenBucket,
  "leaky-bucket": leakyBucket,
};
