import type { LeakyBucket } from "../policy/policy.js";
import type { Algorithm, Receipt } from "./algorithm.js";
import { instantOf, type Owed, owedAt, owedColumns, repaidAt } from "./owed.js";

/** Shapes departures: what is owed is how far the next free slot lies ahead, and an admitted request waits for it. */
export const leakyBucket: Algorithm<LeakyBucket, Owed> = {
  columns: owedColumns,

  create: () => ({ units: 0, atMs: 0 }),

  measure(policy, state, now, cost) {
    const { limit, windowMs, queue } = policy;
    const instant = instantOf(state, now);
    const lateMs = instant - now;
    const owed = owedAt(state, limit, instant);
    const longest = queue * windowMs;
    // The last unit of the call must find its slot within the queue.
    const excess = cost > queue + 1 ? Infinity : owed + (cost - 1) * windowMs - longest;
    const allowed = cost === 0 || excess <= 0;
    const slotMs = Math.ceil(owed / limit);
    return {
      allowed,
      remaining: Math.max(0, Math.floor((longest - owed) / windowMs) + 1),
      retryAfterMs: allowed ? 0 : lateMs + Math.ceil(excess / limit),
      resetMs: owed > 0 ? lateMs + slotMs : 0,
      delayMs: allowed && cost > 0 ? slotMs : 0,
    };
  },

  spend(policy, state, now, cost): Receipt {
    const at = instantOf(state, now);
    state.units = owedAt(state, policy.limit, at) + cost * policy.windowMs;
    state.atMs = at;
    return { at, cost, mark: state.units };
  },

  refund(policy, state, receipt, now) {
    const before = receipt.mark - receipt.cost * policy.windowMs;
    const departureMs = receipt.at + Math.ceil(before / policy.limit);
    const undisturbed = state.units === receipt.mark && state.atMs === receipt.at;
    // A slot with others behind it, or one that has been used, cannot be given back.
    if (undisturbed && instantOf(state, now) <= departureMs)
      state.units = receipt.mark - (receipt.part ?? receipt.cost) * policy.windowMs;
  },

  expiresAt: (policy, state) => repaidAt(state, policy.limit),
};
