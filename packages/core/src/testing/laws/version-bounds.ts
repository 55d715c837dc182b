import type { Millis } from "../../clock.js";
import { capacityOf } from "../../policy/capacity.js";
import type { MigrationRule, Policy } from "../../policy/policy.js";
import { mostFromBucket, mostInTwoCounters } from "./envelopes.js";

/**
 * The most that two versions of a policy admit together in a closed interval, when they take turns on one key. Under
 * `keep` they share one count. Under `scale` and `reset` what the older one had admitted until it was read by the
 * newer one, or some of it, is forgotten once in the time that it would have counted.
 */
export function mostOfTwoVersions(
  [old, changed]: readonly [Policy, Policy],
  rule: MigrationRule,
  lengthMs: Millis,
): bigint {
  const shared = shareOneForm(old, changed)
    ? mostWithin(larger(old, changed), lengthMs)
    : mostInTurns(old, changed, lengthMs);
  if (rule === "keep") return shared;
  const [before, after] = [capacityOf(old), capacityOf(changed)];
  const forgotten = rule === "reset" ? before : Math.max(0, before - after);
  return shared + (lengthMs === 0 ? BigInt(forgotten) : mostWithin(old, lengthMs));
}

/** Whether a state is kept as it is under both, so that whatever one admits, the larger of them would have admitted. */
function shareOneForm(old: Policy, changed: Policy): boolean {
  const queues = old.algorithm === "leaky-bucket" && old.limit !== changed.limit;
  return (
    old.algorithm === changed.algorithm &&
    old.windowMs === changed.windowMs &&
    !queues &&
    anchorOf(old) === anchorOf(changed)
  );
}

function anchorOf(policy: Policy): string | undefined {
  return policy.algorithm === "fixed-window" ? policy.anchor : undefined;
}

/** The larger one of each number. */
function larger(old: Policy, changed: Policy): Policy {
  const numbers = [old, changed] as unknown as readonly Readonly<Record<string, number>>[];
  const most = (field: string): number => Math.max(...numbers.map((of) => of[field] ?? 0));
  const larger = { limit: most("limit"), burst: most("burst"), queue: most("queue") };
  return { ...old, ...larger } as Policy;
}

/** The most that one policy admits in a closed interval. */
function mostWithin(policy: Policy, lengthMs: Millis): bigint {
  const { limit, windowMs } = policy;
  const [whole, rest] = [Math.floor(lengthMs / windowMs), lengthMs % windowMs];
  switch (policy.algorithm) {
    case "fixed-window":
      return BigInt(limit) * BigInt(Math.ceil(lengthMs / windowMs) + 1);
    case "sliding-window":
      return BigInt(limit) * BigInt(whole + 1);
    case "sliding-window-counter":
      return mostInTwoCounters(policy, windowMs) * BigInt(whole) + mostInTwoCounters(policy, rest);
    case "token-bucket":
      return mostFromBucket(policy, lengthMs);
    case "leaky-bucket":
      // Another one leaves when the interval is over.
      return mostFromBucket({ ...policy, burst: capacityOf(policy) }, lengthMs);
  }
}

/**
 * What is converted counts on in full, so there is what both have room for, and what each lets go in that time of as
 * much as the larger one holds.
 */
function mostInTurns(old: Policy, changed: Policy, lengthMs: Millis): bigint {
  const both = [old, changed];
  const capacities = both.map(capacityOf) as [number, number];
  // Of two queues the next free slot keeps its instant, not the number of those who wait.
  const queues = both.every(({ algorithm }) => algorithm === "leaky-bucket");
  const room = queues ? capacities[0] + capacities[1] : Math.max(...capacities);
  return both.reduce((most, policy) => most + letGo(policy, room, lengthMs), BigInt(room));
}

function letGo(policy: Policy, used: number, lengthMs: Millis): bigint {
  const { limit, windowMs } = policy;
  switch (policy.algorithm) {
    case "fixed-window":
      return BigInt(used) * BigInt(Math.ceil(lengthMs / windowMs));
    case "sliding-window":
      return lengthMs === 0 ? 0n : BigInt(used) * BigInt(Math.floor(lengthMs / windowMs) + 1);
    case "sliding-window-counter":
      return lengthMs === 0 ? 0n : (BigInt(used) * BigInt(lengthMs)) / BigInt(windowMs) + 1n;
    case "token-bucket":
    case "leaky-bucket":
      return (BigInt(limit) * BigInt(lengthMs) + BigInt(windowMs) - 1n) / BigInt(windowMs);
  }
}
