import type { Policy } from "./policy.js";

/** The largest cost that a policy can ever admit, and the largest `remaining`: what `limit` means in outcomes and headers. */
export function capacityOf(policy: Policy): number {
  switch (policy.algorithm) {
    case "fixed-window":
    case "sliding-window":
    case "sliding-window-counter":
      return policy.limit;
    case "token-bucket":
      return policy.burst;
    case "leaky-bucket":
      return policy.queue + 1;
  }
}
