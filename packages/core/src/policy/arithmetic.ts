import type { Millis } from "../clock.js";
import { durationMs } from "./duration.js";
import type { AlgorithmName } from "./policy.js";
import type { Fault, PolicyInput } from "./rules.js";

/** Longest hold that a leaky bucket may ask for unless the policy says otherwise. */
export const defaultMaxDelayMs = 10_000;

const longestTimerMs = 2 ** 31 - 1;

// Decisions add up to two windows to an instant, which leaves room for the dates of the next 70,000 years.
const longestWindowMs = 2 ** 51;

/** Whatever a decision computes must stay an exact integer, below 2^53. For numbers that are right one by one. */
export function arithmeticFaults(
  input: PolicyInput & { readonly algorithm: AlgorithmName },
): readonly Fault[] {
  const windowMs = durationMs(input.window ?? input.windowMs) as Millis;
  const limit = input.limit as number;
  switch (input.algorithm) {
    case "fixed-window":
    case "sliding-window":
      return [...longWindow(input, windowMs), ...tooLarge("limit", limit, 2)];
    case "sliding-window-counter":
      return [...longWindow(input, windowMs), ...tooLarge("limit", limit, Math.max(2, windowMs))];
    case "token-bucket":
      return input.burst === undefined
        ? tooLarge("limit", limit, 2 * windowMs)
        : tooLarge("burst", input.burst as number, 2 * windowMs);
    case "leaky-bucket":
      return leakyBucketFaults(input, windowMs);
  }
}

function longWindow(input: PolicyInput, windowMs: Millis): Fault[] {
  if (windowMs <= longestWindowMs) return [];
  const path = input.window === undefined ? "windowMs" : "window";
  const message = `${path} is too long for exact arithmetic (at most ${longestWindowMs} ms), got ${windowMs}`;
  return [{ path, message }];
}

/** `value * factor` must fit. */
function tooLarge(path: string, value: number, factor: number): Fault[] {
  return larger({ path, value, largest: Math.floor(Number.MAX_SAFE_INTEGER / factor), least: 1 });
}

function larger(bound: { path: string; value: number; largest: number; least: number }): Fault[] {
  const { path, value, largest, least } = bound;
  if (value <= largest) return [];
  const room = largest < least ? "there is none: shorten the window" : `at most ${largest}`;
  const message = `${path} is too large for exact arithmetic with this window (${room}), got ${value}`;
  return [{ path, message }];
}

/** A queue must be exact, and must not hold a request for longer than the policy and a timer allow. */
function leakyBucketFaults(input: PolicyInput, windowMs: Millis): readonly Fault[] {
  const queue = input.queue as number;
  const maxDelayMs = (input.maxDelayMs as Millis | undefined) ?? defaultMaxDelayMs;
  const faults: Fault[] = [];
  if (maxDelayMs > longestTimerMs) {
    const message = `maxDelayMs must be at most ${longestTimerMs}, got ${maxDelayMs}`;
    faults.push({ path: "maxDelayMs", message });
  }
  const largest = Math.floor(Number.MAX_SAFE_INTEGER / (2 * windowMs)) - 1;
  const tooLong = larger({ path: "queue", value: queue, largest, least: 0 });
  const longestMs = Math.ceil((queue * windowMs) / (input.limit as number));
  if (tooLong.length === 0 && longestMs > maxDelayMs) {
    const message = `queue would hold a request for ${longestMs} ms, longer than maxDelayMs ${maxDelayMs}, got ${queue}`;
    faults.push({ path: "queue", message });
  }
  return [...faults, ...tooLong];
}
