import type { SlidingWindow } from "../policy/policy.js";
import type { Algorithm, Receipt } from "./algorithm.js";
import { StampLog } from "./stamp-log.js";

/** Remembers the instant of each admitted unit; a stamp counts while it is strictly newer than `now - windowMs`. */
export const slidingWindow: Algorithm<SlidingWindow, StampLog> = {
  create: () => new StampLog(),

  measure(policy, log, now, cost) {
    const { limit, windowMs } = policy;
    const instant = log === undefined ? now : Math.max(now, log.newest);
    const used = log === undefined ? 0 : log.unitsAfter(instant - windowMs);
    const excess = used + cost - limit;
    const allowed = cost === 0 || excess <= 0;
    let retryAfterMs = 0;
    if (cost > limit) {
      retryAfterMs = Infinity;
    } else if (!allowed && log !== undefined) {
      // The wait ends when as many units have expired as are too many now.
      retryAfterMs = log.stampOfUnit(log.units - used + excess) + windowMs - now;
    }
    return {
      allowed,
      remaining: Math.max(0, limit - used),
      retryAfterMs,
      resetMs: used > 0 && log !== undefined ? log.newest + windowMs - now : 0,
      delayMs: 0,
    };
  },

  spend(policy, log, now, cost): Receipt {
    const at = Math.max(now, log.newest);
    log.dropThrough(at - policy.windowMs);
    log.append(at, cost);
    return { at, cost, mark: 0 };
  },

  refund(policy, log, receipt, now) {
    const instant = Math.max(now, log.newest);
    if (receipt.at > instant - policy.windowMs) log.take(receipt.at, receipt.part ?? receipt.cost);
  },

  expiresAt: (policy, log) => (log.units > 0 ? log.newest + policy.windowMs : 0),
};
