import { type Clock, HeadgateError, type Millis } from "@headgate/core";

export interface RedisStoreOptions {
  /**
   * What keys begin with, behind the client's own key prefix. No braces.
   * @default "headgate"
   */
  readonly prefix?: string;
  /**
   * Puts all keys of this store into one slot of a cluster, so that every request is one atomic step
   * there; by default each subject has a slot of its own. No braces.
   */
  readonly hashTag?: string;
  /**
   * How long a call may take, in ms; a server that gets to it only later leaves it undone. Give it the
   * limiter's deadline: shorter fails requests that would still be waited for, longer lets a request count
   * that has been answered without it.
   * @default 200
   */
  readonly callTimeoutMs?: Millis;
  /**
   * Whether checks of one turn of the event loop travel together.
   * @default true
   */
  readonly coalesce?: boolean;
  /**
   * Whether refusals are remembered in this process while they are certain, for at most 10 s.
   * @default true
   */
  readonly denyCache?: boolean;
  /** Decides instead of the server's time, and keeps keys 60 s longer than they count: for tests alone. */
  readonly clock?: Clock;
}

/** The names of those options. */
export const storeOptions: readonly (keyof RedisStoreOptions)[] = [
  "prefix",
  "hashTag",
  "callTimeoutMs",
  "coalesce",
  "denyCache",
  "clock",
];

/**
 * Refuses options that are no object, and any that is not known: a misspelt one must not be ignored.
 *
 * @throws HeadgateError `INVALID_OPTION`
 */
export function checkOptions(caller: string, options: unknown, known: readonly string[]): void {
  const refuse = (rule: string): HeadgateError =>
    new HeadgateError("INVALID_OPTION", `${caller}: ${rule}`);
  if (typeof options !== "object" || options === null)
    throw refuse(`options must be an object, got ${String(options)}`);
  const unknown = Object.keys(options).find((option) => !known.includes(option));
  if (unknown !== undefined)
    throw refuse(`${unknown} is not an option (known: ${known.join(", ")})`);
}
