import type { TokenBucket } from "../policy/policy.js";
import type { Algorithm, Receipt } from "./algorithm.js";
import { instantOf, type Owed, owedAt, owedColumns, repaidAt } from "./owed.js";

/** Refills continuously, computed from elapsed time; an idle client can spend the whole burst at once. */
export const tokenBucket: Algorithm<TokenBucket, Owed> = {
  columns: owedColumns,

  create: () => ({ units: 0, atMs: 0 }),

  measure(policy, state, now, cost) {
    const { limit, windowMs, burst } = policy;
    const instant = instantOf(state, now);
    const lateMs = instant - now;
    const owed = owedAt(state, limit, instant);
    const full = burst * windowMs;
    const excess = cost > burst ? Infinity : owed + cost * windowMs - full;
    const allowed = cost === 0 || excess <= 0;
    return {
      allowed,
      remaining: Math.max(0, Math.floor((full - owed) / windowMs)),
      retryAfterMs: allowed ? 0 : lateMs + Math.ceil(excess / limit),
      resetMs: owed > 0 ? lateMs + Math.ceil(owed / limit) : 0,
      delayMs: 0,
    };
  },

  spend(policy, state, now, cost): Receipt {
    const at = instantOf(state, now);
    state.units = owedAt(state, policy.limit, at) + cost * policy.windowMs;
    state.atMs = at;
    return { at, cost, mark: 0 };
  },

  refund(policy, state, receipt, now) {
    const refillMs = Math.ceil((policy.burst * policy.windowMs) / policy.limit);
    // Everything taken so long ago has come back by itself.
    if (instantOf(state, now) - receipt.at >= refillMs) return;
    // Less owed then is as much less owed now, and the same for tiers whose tokens come back faster.
    state.units = Math.max(0, state.units - (receipt.part ?? receipt.cost) * policy.windowMs);
  },

  expiresAt: (policy, state) => repaidAt(state, policy.limit),
};
