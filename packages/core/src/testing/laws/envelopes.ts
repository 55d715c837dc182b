import type { Millis } from "../../clock.js";
import type { LeakyBucket, Policy, TokenBucket } from "../../policy/policy.js";
import { expectThat } from "../expectation.js";

/** A charge that was made, or, with a negative cost, given back. */
export interface Passage {
  readonly at: Millis;
  readonly cost: number;
  readonly delayMs: Millis;
}

/**
 * Expects admitted traffic, in order of time, to stay within its policy's exact upper bound.
 *
 * @throws Error naming the interval that admitted too much
 */
export function expectWithinEnvelope(policy: Policy, passages: readonly Passage[]): void {
  const { limit, windowMs } = policy;
  switch (policy.algorithm) {
    case "fixed-window":
      expectIntervals(passages, (lengthMs) =>
        lengthMs <= windowMs ? 2n * BigInt(limit) : undefined,
      );
      if (policy.anchor === "clock") expectGridWindows(passages, { limit, windowMs });
      else expectAnchoredWindows(passages, { limit, windowMs });
      break;
    case "sliding-window":
      expectIntervals(passages, (lengthMs) => (lengthMs < windowMs ? BigInt(limit) : undefined));
      break;
    case "sliding-window-counter":
      expectIntervals(passages, (lengthMs) =>
        lengthMs <= windowMs ? mostInTwoCounters(policy, lengthMs) : undefined,
      );
      break;
    case "token-bucket":
      expectIntervals(passages, (lengthMs) => mostFromBucket(policy, lengthMs));
      break;
    case "leaky-bucket":
      expectDepartures(passages, policy);
      expectQueue(passages, policy);
  }
}

/** `floor(limit * (1 + d / windowMs))`: the most that two counters admit within d, a window or less. */
export function mostInTwoCounters({ limit, windowMs }: Policy, lengthMs: Millis): bigint {
  return BigInt(limit) + (BigInt(limit) * BigInt(lengthMs)) / BigInt(windowMs);
}

/** `floor(burst + d * limit / windowMs)`: the most that a token bucket admits within d. */
export function mostFromBucket(
  { limit, windowMs, burst }: Pick<TokenBucket, "limit" | "windowMs" | "burst">,
  lengthMs: Millis,
): bigint {
  return BigInt(burst) + (BigInt(limit) * BigInt(lengthMs)) / BigInt(windowMs);
}

/** Checks every closed interval that begins and ends with a passage, as the fullest ones do, if it has a bound. */
export function expectIntervals(
  passages: readonly Passage[],
  most: (lengthMs: Millis) => bigint | undefined,
): void {
  for (const [from, { at: start }] of passages.entries()) {
    let admitted = 0n;
    for (const { at, cost } of passages.slice(from)) {
      admitted += BigInt(cost);
      const bound = most(at - start);
      expectThat(
        bound === undefined || admitted <= bound,
        `${admitted} admitted from ${start} to ${at}, the bound is ${bound}`,
      );
    }
  }
}

interface Window {
  readonly limit: number;
  readonly windowMs: Millis;
}

function expectGridWindows(passages: readonly Passage[], { limit, windowMs }: Window): void {
  const counts = new Map<number, number>();
  for (const { at, cost } of passages) {
    const index = Math.floor(at / windowMs);
    const count = (counts.get(index) ?? 0) + cost;
    counts.set(index, count);
    expectThat(count <= limit, `${count} admitted in window ${index}`);
  }
}

function expectAnchoredWindows(passages: readonly Passage[], { limit, windowMs }: Window): void {
  let startMs = -Infinity;
  let count = 0;
  for (const { at, cost } of passages) {
    if (at >= startMs + windowMs) {
      startMs = at;
      count = 0;
    }
    count += cost;
    expectThat(count <= limit, `${count} admitted in the window from ${startMs}`);
  }
}

/** Departures lie `windowMs / limit` apart for each unit, to the rounding of a millisecond. */
function expectDepartures(passages: readonly Passage[], { limit, windowMs }: LeakyBucket): void {
  let before: { departure: Millis; cost: number } | undefined;
  for (const { at, cost, delayMs } of passages) {
    const departure = at + delayMs;
    if (before !== undefined) {
      const apart = BigInt(departure - before.departure + 1) * BigInt(limit);
      expectThat(
        apart > BigInt(before.cost) * BigInt(windowMs),
        `departures at ${before.departure}, of ${before.cost}, and at ${departure}`,
      );
    }
    before = { departure, cost };
  }
}

/** At no arrival do more than `queue` units wait for a slot that is still to come. */
function expectQueue(passages: readonly Passage[], { limit, windowMs, queue }: LeakyBucket): void {
  const [rate, unit] = [BigInt(limit), BigInt(windowMs)];
  let freeFrom = 0n;
  for (const { at, cost } of passages) {
    const now = BigInt(at) * rate;
    freeFrom = (freeFrom > now ? freeFrom : now) + BigInt(cost) * unit;
    // The last unit's slot is one before the free one; those after now wait.
    const waiting = (freeFrom - unit - now + unit - 1n) / unit;
    expectThat(waiting <= BigInt(queue), `${waiting} wait at ${at}`);
  }
}
