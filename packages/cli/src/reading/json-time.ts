import type { Millis } from "@headgate/core";
import { AccessTime, accessTimeLength } from "./access-time.js";

/** Numbers below each bound are in units that last so many milliseconds: seconds, then down to nanoseconds. */
const units: readonly (readonly [bound: number, ms: number])[] = [
  [1e11, 1_000],
  [1e14, 1],
  [1e17, 1e-3],
  [1e20, 1e-6],
];
const withoutZone = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?$/;
const digits = /^\d+(?:\.\d+)?$/;

/**
 * The instant that a value tells, floored to milliseconds, or NaN: ISO 8601 text (UTC when it has no zone), the time
 * of access logs, or a number since the epoch in seconds, ms, µs or ns, whichever gives a date between 1973 and 5138.
 */
export function jsonTime(value: unknown): Millis {
  if (typeof value === "number") return ofNumber(value);
  if (typeof value !== "string") return Number.NaN;
  if (digits.test(value)) return ofNumber(Number(value));
  if (withoutZone.test(value)) return Date.parse(`${value.replace(" ", "T").replace(",", ".")}Z`);
  if (value.length === accessTimeLength && value[2] === "/")
    return new AccessTime().read(Buffer.from(value), 0);
  return Date.parse(value.replace(",", "."));
}

function ofNumber(value: number): Millis {
  const unit = units.find(([bound]) => value < bound);
  return unit === undefined ? Number.NaN : Math.floor(value * unit[1]);
}
