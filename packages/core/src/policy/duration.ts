import type { Millis } from "../clock.js";

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Text that is a duration. */
export const durationPattern: RegExp = /^(\d{1,15})(ms|s|m|h|d)$/;

/** A length of time: whole milliseconds, or a whole number with a unit, as in `"10s"`, `"1m"`, `"24h"`, `"30d"`. */
export type Duration = Millis | `${number}${keyof typeof unitMs}`;

/** Milliseconds of a duration, or undefined when the value is none. A number is taken as it is. */
export function durationMs(value: unknown): Millis | undefined {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return undefined;
  const match = durationPattern.exec(value);
  return match ? Number(match[1]) * unitMs[match[2] as keyof typeof unitMs] : undefined;
}
