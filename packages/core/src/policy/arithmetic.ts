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
  const atMost = (path: string, value: unknown, largest: number): Fault[] => {
    if ((value as number) <= largest) return [];
    const room = largest < (path === "queue" ? 0 : 1) ? "there is none" : `at most ${largest}`;
    const message = `${path} is too large for exact arithmetic (${room}), got ${value}`;
    return [{ path, message }];
  };
  // A state in debt, and a call on top of it, must still be exact.
  const debt = (input.debt as number | undefined) ?? 0;
  const fits = (unit: number): number => Math.floor(Number.MAX_SAFE_INTEGER / unit) - debt;
  switch (input.algorithm) {
    case "token-bucket": {
      const path = input.burst === undefined ? "limit" : "burst";
      return atMost(path, input[path], Math.floor(fits(windowMs) / 2));
    }
    case "leaky-bucket":
      return [
        ...atMost("queue", input.queue, Math.floor(fits(windowMs) / 2) - 1),
        ...holdFaults(input, windowMs),
      ];
    default: {
      const counter = input.algorithm === "sliding-window-counter";
      const path = input.window === undefined ? "windowMs" : "window";
      return [
        ...atMost(path, windowMs, longestWindowMs),
        ...atMost(
          "limit",
          input.limit,
          counter && windowMs > 1 ? fits(windowMs) : Math.floor(fits(1) / 2),
        ),
      ];
    }
  }
}

/** A queue must not hold a request for longer than the policy and a timer allow. */
function holdFaults({ queue, limit, ...input }: PolicyInput, windowMs: Millis): Fault[] {
  const maxDelayMs = (input.maxDelayMs as Millis | undefined) ?? defaultMaxDelayMs;
  const longestMs = Math.ceil(((queue as number) * windowMs) / (limit as number));
  const faults: Fault[] = [];
  if (maxDelayMs > longestTimerMs) {
    const message = `maxDelayMs must be at most ${longestTimerMs}, got ${maxDelayMs}`;
    faults.push({ path: "maxDelayMs", message });
  }
  if (longestMs > maxDelayMs) {
    const message = `queue would hold a request for ${longestMs} ms, longer than maxDelayMs ${maxDelayMs}, got ${queue}`;
    faults.push({ path: "queue", message });
  }
  return faults;
}
