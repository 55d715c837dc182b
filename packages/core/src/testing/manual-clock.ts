import type { Clock, Millis } from "../clock.js";
import { HeadgateError, show } from "../errors.js";

/** A clock that stands still until a test moves it, and that never runs backwards. */
export class ManualClock implements Clock {
  #now: Millis;

  /**
   * @param startMs - the first reading, an integer from 0
   * @throws HeadgateError `INVALID_CLOCK` for any other start
   */
  constructor(startMs: Millis = 0) {
    this.#now = instant("start", startMs);
  }

  now(): Millis {
    return this.#now;
  }

  /**
   * Moves on by a whole number of milliseconds, 0 included.
   *
   * @throws HeadgateError `INVALID_CLOCK` for a step that is negative, fractional or not finite
   */
  advance(stepMs: Millis): void {
    instant("step", stepMs);
    this.#now = instant("time", this.#now + stepMs);
  }

  /**
   * Moves on to an instant that is not before the present one.
   *
   * @throws HeadgateError `INVALID_CLOCK` for an earlier instant, or one that is fractional or not finite
   */
  set(nowMs: Millis): void {
    instant("time", nowMs);
    if (nowMs < this.#now) {
      throw new HeadgateError(
        "INVALID_CLOCK",
        `ManualClock: time must not go back from ${this.#now}, got ${nowMs}`,
      );
    }
    this.#now = nowMs;
  }
}

/**
 * A clock that may also step back, as an operator's or a time server's correction makes a wall clock do.
 * For tests of what a store does then, and for suites that look at other instants; elsewhere use `ManualClock`.
 */
export class SteppingClock implements Clock {
  #now: Millis;

  /** @throws HeadgateError `INVALID_CLOCK` for a start that is not an integer from 0 */
  constructor(startMs: Millis = 0) {
    this.#now = instant("start", startMs);
  }

  now(): Millis {
    return this.#now;
  }

  /**
   * Moves to any instant, earlier ones included.
   *
   * @throws HeadgateError `INVALID_CLOCK` for an instant that is not an integer from 0
   */
  set(nowMs: Millis): void {
    this.#now = instant("time", nowMs);
  }
}

function instant(what: string, value: Millis): Millis {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new HeadgateError(
    "INVALID_CLOCK",
    `clock: ${what} must be an integer from 0 to 2^53 - 1 ms, got ${show(value)}`,
  );
}
