import type { Millis } from "../clock.js";
import type { Policy } from "../policy/policy.js";
import type { Remembered } from "../store/memory/policy-table.js";

/** A policy that a state was written under, with what is remembered beside the state. */
export type KeptPolicy = Policy & Remembered;

/** The highest of the versions that have written a state. */
export function highestOf({ version, highest = version }: KeptPolicy): number {
  return highest;
}

const raised = new WeakMap<Policy, KeptPolicy>();

/**
 * What a policy keeps a state under: itself, unless there is something to remember. The highest version never goes
 * down, or each of its turns would be the first one again.
 */
export function keptUnder(
  policy: KeptPolicy,
  { highest, untilMs, now }: { highest: number; untilMs: Millis; now: Millis },
): KeptPolicy {
  if (untilMs > now)
    return Object.freeze({ ...policy, highest: Math.max(highest, policy.version), untilMs });
  if (highest <= policy.version) return policy;
  const known = raised.get(policy);
  if (known?.highest === highest) return known;
  const made = Object.freeze({ ...policy, highest });
  raised.set(policy, made);
  return made;
}
