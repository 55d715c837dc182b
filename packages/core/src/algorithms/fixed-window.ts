import type { Millis } from "../clock.js";
import type { FixedWindow } from "../policy/policy.js";
import type { Algorithm, Receipt } from "./algorithm.js";

/** The window that was charged last, and how much. A count of 0 is an untouched state. */
interface WindowState {
  startMs: Millis;
  count: number;
}

/** Counts in windows that do not overlap: `[start, start + windowMs)`. */
export const fixedWindow: Algorithm<FixedWindow, WindowState> = {
  columns: {
    width: 2,
    save(state, cells, at) {
      cells[at] = state.startMs;
      cells[at + 1] = state.count;
    },
    load(state, cells, at) {
      state.startMs = cells[at] as number;
      state.count = cells[at + 1] as number;
    },
  },

  create: () => ({ startMs: 0, count: 0 }),

  measure(policy, state, now, cost) {
    const { limit, windowMs } = policy;
    const live = liveWindow(policy, state, now);
    const used = live === undefined ? 0 : live.count;
    const allowed = cost === 0 || used + cost <= limit;
    const endMs = (live === undefined ? windowStart(policy, now) : live.startMs) + windowMs;
    return {
      allowed,
      remaining: Math.max(0, limit - used),
      retryAfterMs: allowed ? 0 : cost > limit ? Infinity : endMs - now,
      resetMs: used > 0 ? endMs - now : 0,
      delayMs: 0,
    };
  },

  spend(policy, state, now, cost): Receipt {
    if (liveWindow(policy, state, now) === undefined) {
      state.startMs = windowStart(policy, now);
      state.count = 0;
    }
    state.count += cost;
    return { at: Math.max(now, state.startMs), cost, mark: state.startMs };
  },

  refund(_policy, state, receipt) {
    // Any other window is over, and what was taken from it no longer counts.
    if (state.startMs === receipt.mark)
      state.count = Math.max(0, state.count - (receipt.part ?? receipt.cost));
  },

  expiresAt: (policy, state) => (state.count > 0 ? state.startMs + policy.windowMs : 0),
};

// An instant before the window's start counts as the start, so only the end needs a look.
function liveWindow(
  policy: FixedWindow,
  state: WindowState | undefined,
  now: Millis,
): WindowState | undefined {
  if (state === undefined || state.count === 0) return undefined;
  return now < state.startMs + policy.windowMs ? state : undefined;
}

function windowStart(policy: FixedWindow, now: Millis): Millis {
  return policy.anchor === "clock" ? now - (now % policy.windowMs) : now;
}
