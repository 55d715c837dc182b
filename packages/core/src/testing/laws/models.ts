import type { Millis } from "../../clock.js";
import { capacityOf } from "../../policy/capacity.js";
import type { FixedWindow, LeakyBucket, Policy, TokenBucket } from "../../policy/policy.js";

/**
 * An algorithm written down as its definition: it keeps every admission of a key and asks them all, each
 * time, in arithmetic without bounds. It knows no formula for a wait, only whether a call would pass.
 */
export interface Model {
  /** Whether a call would be admitted, at any instant that is not before the last admission. */
  admits(now: Millis, cost: number): boolean;
  /** How long an admitted call is held. */
  delayMs(now: Millis): Millis;
  /** Whether the key cannot be told from one that was never seen. */
  untouched(now: Millis): boolean;
  /** Remembers an admission. */
  take(now: Millis, cost: number): void;
  /** What a bucket is owed, in units of which a request costs `windowMs` and `limit` come back each millisecond. */
  owed(now: Millis): bigint;
  /** Remembers that this much was owed at an instant. */
  owe(now: Millis, units: bigint): void;
}

interface Admission {
  readonly at: Millis;
  readonly cost: number;
  /** What a bucket was owed, where that was no admission. */
  readonly units?: bigint;
}

export function modelOf(policy: Policy): Model {
  const capacity = capacityOf(policy);
  const taken: Admission[] = [];
  const rule = ruleOf(policy, taken);
  return {
    admits: (now, cost) => cost === 0 || (cost <= capacity && rule.fits(now, cost)),
    delayMs: rule.delayMs ?? (() => 0),
    untouched: rule.untouched,
    take(now, cost) {
      if (cost > 0) taken.push({ at: now, cost });
    },
    owed(now) {
      const ahead = furthest(taken, policy) - BigInt(now) * BigInt(policy.limit);
      return ahead > 0n ? ahead : 0n;
    },
    owe(now, units) {
      taken.push({ at: now, cost: 0, units });
    },
  };
}

interface Rule {
  fits(now: Millis, cost: number): boolean;
  untouched(now: Millis): boolean;
  delayMs?(now: Millis): Millis;
}

function ruleOf(policy: Policy, taken: readonly Admission[]): Rule {
  const { limit, windowMs } = policy;
  const sum = (counts: (at: Millis) => boolean): number =>
    taken.reduce((total, { at, cost }) => (counts(at) ? total + cost : total), 0);
  switch (policy.algorithm) {
    case "fixed-window":
      return fixedWindowRule(policy, taken);
    case "sliding-window": {
      const used = (now: Millis): number => sum((at) => at > now - windowMs);
      return {
        fits: (now, cost) => used(now) + cost <= limit,
        untouched: (now) => used(now) === 0,
      };
    }
    case "sliding-window-counter": {
      const indexOf = (at: Millis): number => Math.floor(at / windowMs);
      const count = (index: number): number => sum((at) => indexOf(at) === index);
      return {
        fits(now, cost) {
          const room = BigInt(limit - count(indexOf(now)) - cost);
          const restMs = BigInt(windowMs - (now % windowMs));
          return BigInt(count(indexOf(now) - 1)) * restMs <= room * BigInt(windowMs);
        },
        untouched: (now) => count(indexOf(now)) + count(indexOf(now) - 1) === 0,
      };
    }
    case "token-bucket":
      return tokenBucketRule(policy, taken);
    case "leaky-bucket":
      return leakyBucketRule(policy, taken);
  }
}

function fixedWindowRule(
  { limit, windowMs, anchor }: FixedWindow,
  taken: readonly Admission[],
): Rule {
  const startOf = (now: Millis): Millis => {
    if (anchor === "clock") return now - (now % windowMs);
    let start = -Infinity;
    for (const { at } of taken) if (at >= start + windowMs) start = at;
    return now < start + windowMs ? start : now;
  };
  const used = (now: Millis): number => {
    const start = startOf(now);
    return taken.reduce((total, { at, cost }) => (at >= start ? total + cost : total), 0);
  };
  return {
    fits: (now, cost) => used(now) + cost <= limit,
    untouched: (now) => used(now) === 0,
  };
}

/** No span from an admission until now has used more than the bucket held and got back, counting this call. */
function tokenBucketRule(
  { limit, windowMs, burst }: TokenBucket,
  taken: readonly Admission[],
): Rule {
  const ahead = (): bigint => furthest(taken, { limit, windowMs });
  const [rate, unit, full] = [BigInt(limit), BigInt(windowMs), BigInt(burst) * BigInt(windowMs)];
  return {
    fits: (now, cost) => ahead() + unit * BigInt(cost) <= BigInt(now) * rate + full,
    untouched: (now) => ahead() <= BigInt(now) * rate,
  };
}

/** Departures lie at least `windowMs / limit` apart, and the last unit of a call leaves within the queue. */
function leakyBucketRule(
  { limit, windowMs, queue }: LeakyBucket,
  taken: readonly Admission[],
): Rule {
  const [rate, unit] = [BigInt(limit), BigInt(windowMs)];
  const slot = (now: Millis): bigint => {
    const [ahead, present] = [furthest(taken, { limit, windowMs }), BigInt(now) * rate];
    return ahead > present ? ahead : present;
  };
  return {
    fits: (now, cost) =>
      slot(now) + BigInt(cost - 1) * unit <= BigInt(now) * rate + BigInt(queue) * unit,
    untouched: (now) => slot(now) === BigInt(now) * rate,
    delayMs: (now) => Number((slot(now) - BigInt(now) * rate + rate - 1n) / rate),
  };
}

/** The latest instant, times `limit`, until which admissions reach when each unit takes `windowMs / limit`. */
function furthest(
  taken: readonly Admission[],
  { limit, windowMs }: { limit: number; windowMs: Millis },
): bigint {
  let since = 0n;
  let latest = -1n;
  for (let index = taken.length - 1; index >= 0; index -= 1) {
    const { at, cost, units } = taken[index] as Admission;
    since += units ?? BigInt(cost) * BigInt(windowMs);
    const end = BigInt(at) * BigInt(limit) + since;
    if (end > latest) latest = end;
  }
  return latest;
}
