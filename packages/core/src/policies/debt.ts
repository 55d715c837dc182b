import type { Millis } from "../clock.js";
import type { Policy } from "../policy/policy.js";
import type { Entry } from "../store/memory/tables.js";
import type { Charge } from "../store/store.js";

/** As much of a settled charge as capacity and declared debt have room for. */
export function roomFor({ policy, cost }: Charge, { table, state }: Entry, now: Millis): number {
  const indebted = enlarged(policy, policy.debt);
  return Math.min(cost, table.algorithm.measure(indebted, state, now, 0).remaining);
}

/** The policy with a capacity that is larger by `units`. */
export function enlarged(policy: Policy, units: number): Policy {
  switch (policy.algorithm) {
    case "token-bucket":
      return { ...policy, burst: policy.burst + units };
    case "leaky-bucket":
      return { ...policy, queue: policy.queue + units };
    default:
      return { ...policy, limit: policy.limit + units };
  }
}
