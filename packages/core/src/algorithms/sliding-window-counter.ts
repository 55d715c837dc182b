import type { Millis } from "../clock.js";
import type { SlidingWindowCounter } from "../policy/policy.js";
import type { Algorithm, Receipt } from "./algorithm.js";

/** The counts of the clock's window `index` and of the one before it. Two zeros are an untouched state. */
interface TwoCounts {
  index: number;
  current: number;
  previous: number;
}

/**
 * Weighs the previous window's count by the share of it that a trailing window would still cover.
 * An interval no longer than a window, of length d, admits at most `floor(limit * (1 + d / windowMs))`.
 */
export const slidingWindowCounter: Algorithm<SlidingWindowCounter, TwoCounts> = {
  columns: {
    width: 3,
    save(state, cells, at) {
      cells[at] = state.index;
      cells[at + 1] = state.current;
      cells[at + 2] = state.previous;
    },
    load(state, cells, at) {
      state.index = cells[at] as number;
      state.current = cells[at + 1] as number;
      state.previous = cells[at + 2] as number;
    },
  },

  create: () => ({ index: 0, current: 0, previous: 0 }),

  measure(policy, state, now, cost) {
    const { limit, windowMs } = policy;
    const instant = instantOf(policy, state, now);
    const index = Math.floor(instant / windowMs);
    const current = countOf(state, index);
    const previous = countOf(state, index - 1);
    const restMs = windowMs - (instant % windowMs);
    const lateMs = instant - now;

    const weighed = previous * restMs;
    const allowed = cost === 0 || (cost <= limit && weighed <= (limit - current - cost) * windowMs);
    let retryAfterMs = 0;
    if (cost > limit) retryAfterMs = Infinity;
    else if (!allowed)
      retryAfterMs = lateMs + waitFor(limit - cost, windowMs, { current, previous, restMs });
    return {
      allowed,
      remaining: Math.max(0, limit - current - Math.ceil(weighed / windowMs)),
      retryAfterMs,
      resetMs: current > 0 ? lateMs + windowMs + restMs : previous > 0 ? lateMs + restMs : 0,
      delayMs: 0,
    };
  },

  spend(policy, state, now, cost): Receipt {
    const at = instantOf(policy, state, now);
    const index = Math.floor(at / policy.windowMs);
    const current = countOf(state, index);
    state.previous = countOf(state, index - 1);
    state.current = current + cost;
    state.index = index;
    return { at, cost, mark: index };
  },

  refund(_policy, state, receipt) {
    if (receipt.mark === state.index)
      state.current = Math.max(0, state.current - (receipt.part ?? receipt.cost));
    else if (receipt.mark === state.index - 1)
      state.previous = Math.max(0, state.previous - (receipt.part ?? receipt.cost));
  },

  expiresAt(policy, state) {
    const startMs = state.index * policy.windowMs;
    if (state.current > 0) return startMs + 2 * policy.windowMs;
    return state.previous > 0 ? startMs + policy.windowMs : 0;
  },
};

function instantOf(
  policy: SlidingWindowCounter,
  state: TwoCounts | undefined,
  now: Millis,
): Millis {
  return state === undefined || state.current + state.previous === 0
    ? now
    : Math.max(now, state.index * policy.windowMs);
}

function countOf(state: TwoCounts | undefined, index: number): number {
  if (state === undefined) return 0;
  if (index === state.index) return state.current;
  return index === state.index - 1 ? state.previous : 0;
}

/** Until `room` = limit - cost covers the weighed counts: within this window, or else within the next one. */
function waitFor(
  room: number,
  windowMs: Millis,
  { current, previous, restMs }: { current: number; previous: number; restMs: Millis },
): Millis {
  if (current <= room && previous > 0) {
    const waitMs = Math.ceil((previous * restMs - (room - current) * windowMs) / previous);
    if (waitMs < restMs) return waitMs;
  }
  const intoNextMs =
    current === 0 ? 0 : Math.ceil((current * windowMs - room * windowMs) / current);
  return restMs + Math.max(0, intoNextMs);
}
