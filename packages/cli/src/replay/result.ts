import type { Millis, Policy } from "@headgate/core";
import type { BrokenLine } from "../reading/log-reader.js";

/** A number of requests or clients, and its share of all there are. */
export interface Part {
  readonly count: number;
  readonly of: number;
}

/** A client that was refused, with how often of how many requests. */
export interface WorstClient {
  readonly client: string;
  readonly refused: number;
  readonly requests: number;
}

/** A wait that a client was told, and when. */
export interface WaitResult {
  readonly ms: Millis;
  readonly at: string;
}

/** A request that had succeeded and would have been refused. */
export interface RefusedSuccessResult {
  readonly at: string;
  readonly client: string;
  readonly failuresBefore: number;
  readonly firstFailureAt?: string;
}

/** What a policy would have done with requests by how they ended. */
export interface AttemptsResult {
  readonly failures: Part;
  readonly successes: Part;
  /** Runs of at least `from` failures of one client with no success among them, and what was refused of all in them. */
  readonly guessing: { readonly from: number; readonly runs: number; readonly failures: Part };
  /** The client that failed most often in a row, and how many of these attempts were refused. */
  readonly longestRun?: {
    readonly client: string;
    readonly failures: number;
    readonly refused: number;
    readonly startAt: string;
  };
  readonly refusedSuccesses: readonly RefusedSuccessResult[];
}

/** What one policy would have done. */
export interface PolicyResult {
  readonly label: string;
  readonly policy: Policy;
  readonly words: string;
  readonly variant?: { readonly of: string; readonly differs: "limit" | "algorithm" };
  /** Refused of the requests that have the policy's key. */
  readonly requests: Part;
  /** Refused at least once, of all clients. */
  readonly clients: Part;
  /** Whether clients were counted one by one; otherwise their numbers are estimates from a sample. */
  readonly clientsExact: boolean;
  /** Requests without the policy's key, which were not decided. */
  readonly withoutKey: number;
  /** Refused for a ban, of all that were refused. */
  readonly banned: number;
  /** Requests that a leaky bucket held for a while. */
  readonly held: number;
  readonly longestWait?: WaitResult;
  readonly longestHold?: WaitResult;
  /** Whether the store may have had to forget clients, so that too few were refused. */
  readonly storeWasFull: boolean;
  /** Refusals in each span of `ReplayResult.spans`. */
  readonly refusedBySpan: readonly number[];
  readonly routes: readonly { readonly route: string; readonly refused: number }[];
  readonly worstClients: readonly WorstClient[];
  readonly attempts?: AttemptsResult;
}

/** How many clients made how many requests: from `from` to `to` of them. */
export interface DistributionStep {
  readonly from: number;
  readonly to: number;
  readonly clients: number;
  readonly requests: number;
}

/** The clients that one key tells apart. */
export interface KeyResult {
  /** The key in words. */
  readonly by: string;
  readonly clients: number;
  readonly exact: boolean;
  readonly distribution: readonly DistributionStep[];
}

/** What was read. */
export interface InputResult {
  readonly files: readonly string[];
  readonly lines: number;
  readonly requests: number;
  readonly broken: number;
  readonly examples: readonly BrokenLine[];
  /** Requests behind a later one, put in order. */
  readonly outOfOrder: number;
  /** Requests too far out of order, decided when they came. */
  readonly late: number;
  /** Files that could not be read to their end, and why. */
  readonly damaged: readonly { readonly file: string; readonly why: string }[];
  readonly firstAt: string;
  readonly lastAt: string;
}

/** How fast it went. */
export interface Performance {
  /** Lines read, those of several readings together. */
  readonly lines: number;
  readonly elapsedMs: Millis;
  readonly linesPerSecond: number;
  readonly peakMemoryBytes: number;
}

/** Everything that a replay found out, as `--json` prints it. */
export interface ReplayResult {
  readonly input: InputResult;
  readonly clientsHashed: boolean;
  readonly keys: readonly KeyResult[];
  readonly spans: {
    readonly startAt: string;
    readonly widthMs: Millis;
    readonly requests: readonly number[];
  };
  readonly policies: readonly PolicyResult[];
  readonly performance: Performance;
}
