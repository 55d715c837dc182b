import { HeadgateError, invalidOption, show } from "./errors.js";

/** A duration or an instant in whole milliseconds. */
export type Millis = number;

/** Where the embedded store reads the time: epoch-like milliseconds that do not run backwards. */
export interface Clock {
  now(): Millis;
}

// Monotonic like performance.now(), but counted from the epoch: a step of the system's wall clock moves no window.
const originMs = Date.now() - performance.now();

/** The process's monotonic clock, in whole milliseconds since the epoch. */
export const systemClock: Clock = {
  now: () => Math.floor(originMs + performance.now()),
};

/** @throws HeadgateError `INVALID_OPTION` for what cannot be read as a clock */
export function checkClock(caller: string, clock: Clock): void {
  if (typeof (clock as Partial<Clock> | null)?.now === "function") return;
  throw invalidOption(caller, "clock must be an object with a method now()", clock);
}

/**
 * Reads a clock once, floored to whole milliseconds.
 *
 * @throws HeadgateError `INVALID_CLOCK` when the reading is not a number from 0 to 2^53 - 1.
 */
export function readClock(clock: Clock): Millis {
  const reading: unknown = clock.now();
  const now = typeof reading === "number" ? Math.floor(reading) : Number.NaN;
  if (now >= 0 && now <= Number.MAX_SAFE_INTEGER) return now;
  throw new HeadgateError(
    "INVALID_CLOCK",
    `clock: now() must be from 0 to 2^53 - 1 ms, got ${show(reading)}`,
  );
}
