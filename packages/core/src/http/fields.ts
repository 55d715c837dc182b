import type { Millis } from "../clock.js";
import { HeadgateError, show } from "../errors.js";

/** Largest integer of a structured field, and of any number sent here. */
const largestInteger = 999_999_999_999_999;
/** Timers of clients overflow above 2^31 - 1 ms and fire at once. */
const longestRetrySeconds = 2_147_483;

/** A header to set, or to remove where the value is undefined. */
export type Field = readonly [name: string, value: string | undefined];

/** The names of the three fields that every response carries. */
export interface LimitFieldNames {
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
}

/**
 * `prefix` with `-Limit`, `-Remaining` and `-Reset`.
 *
 * @throws HeadgateError `INVALID_OPTION` when the prefix is not an HTTP token
 */
export function limitFieldNames(prefix: string): LimitFieldNames {
  if (typeof prefix !== "string" || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(prefix)) {
    throw new HeadgateError(
      "INVALID_OPTION",
      `headerPrefix: must be an HTTP token such as "X-RateLimit", got ${show(prefix)}`,
    );
  }
  return { limit: `${prefix}-Limit`, remaining: `${prefix}-Remaining`, reset: `${prefix}-Reset` };
}

/** What the three fields tell; `remaining` and `resetMs` are left out where nobody knows them. */
export interface Report {
  readonly limit: number;
  readonly remaining: number | undefined;
  readonly resetMs: Millis | undefined;
}

/** The three fields for a decision made at `nowMs` of the wall clock; reset as epoch seconds, rounded up. */
export function limitFields(
  names: LimitFieldNames,
  { limit, remaining, resetMs }: Report,
  nowMs: Millis,
): readonly Field[] {
  const known = remaining !== undefined && resetMs !== undefined;
  return [
    [names.limit, digits(limit)],
    [names.remaining, known ? digits(Math.min(remaining, limit)) : undefined],
    [names.reset, known ? digits(Math.ceil((nowMs + resetMs) / 1000)) : undefined],
  ];
}

/** Whole seconds of a wait, for Retry-After: rounded up, at least 1, and no longer than clients can wait. */
export function retryAfterSeconds(retryAfterMs: Millis): number {
  return Math.min(longestRetrySeconds, Math.max(1, Math.ceil(retryAfterMs / 1000)));
}

/** A number as decimal digits, rounded down and kept between 0 and what structured fields can hold; 0 for NaN. */
export function digits(value: number): string {
  return value >= 0 ? String(Math.min(largestInteger, Math.floor(value))) : "0";
}
