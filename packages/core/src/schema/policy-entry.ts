import type { Millis } from "../clock.js";
import type {
  fixedWindow,
  leakyBucket,
  PenaltyOptions,
  PolicyOptions,
  tokenBucket,
} from "../policy/builders.js";
import type { Duration } from "../policy/duration.js";
import type { AlgorithmName } from "../policy/policy.js";

/** One policy as data: what its builder takes, the algorithm by name, and each time in one of two forms. */
export type PolicyEntry =
  | Entry<"fixed-window", Parameters<typeof fixedWindow>[0]>
  | Entry<"sliding-window", PolicyOptions>
  | Entry<"sliding-window-counter", PolicyOptions>
  | Entry<"token-bucket", Parameters<typeof tokenBucket>[0]>
  | Entry<"leaky-bucket", Parameters<typeof leakyBucket>[0]>;

type Entry<A extends AlgorithmName, Options extends PolicyOptions> = Omit<
  Options,
  "window" | "penalty"
> & {
  readonly algorithm: A;
  readonly penalty?: PenaltyEntry;
  /** Milliseconds or text such as `"1m"`; either this or `windowMs`. */
  readonly window?: Duration;
  readonly windowMs?: Millis;
};

/** What leads to a ban, with its times as durations or in milliseconds. */
interface PenaltyEntry extends PenaltyOptions {
  /** Either this or `within`. */
  readonly withinMs?: Millis;
  /** Either this or `ban`. */
  readonly banMs?: Millis;
}

/** Policies by name, as a file holds them. */
export interface PolicyFile {
  /** Where an editor finds the JSON Schema. */
  readonly $schema?: string;
  readonly policies: Readonly<Record<string, PolicyEntry>>;
}
