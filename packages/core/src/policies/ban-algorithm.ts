import type { Algorithm, Receipt } from "../algorithms/algorithm.js";
import type { Millis } from "../clock.js";
import type { Penalty } from "../policy/policy.js";

/** How a policy's bans are counted: under a name that no policy can have, so beside the policy's own states. */
export interface BanPolicy extends Penalty {
  readonly name: string;
  readonly algorithm: "ban";
}

/** The strikes of a window that the first of them opened, and the end of the ban that they led to. */
export interface Strikes {
  startMs: Millis;
  count: number;
  untilMs: Millis;
}

/** Admits until there is a ban. What is spent are strikes; under a ban nobody spends. */
export const ban: Algorithm<BanPolicy, Strikes> = {
  columns: {
    width: 3,
    save(state, cells, at) {
      cells[at] = state.startMs;
      cells[at + 1] = state.count;
      cells[at + 2] = state.untilMs;
    },
    load(state, cells, at) {
      state.startMs = cells[at] as number;
      state.count = cells[at + 1] as number;
      state.untilMs = cells[at + 2] as number;
    },
  },

  create: () => ({ startMs: 0, count: 0, untilMs: 0 }),

  measure(policy, state, now) {
    const banMs = state === undefined ? 0 : Math.max(0, state.untilMs - now);
    return {
      allowed: banMs === 0,
      remaining: banMs === 0 ? 1 : 0,
      retryAfterMs: banMs,
      resetMs: state === undefined ? 0 : Math.max(0, ban.expiresAt(policy, state) - now),
      delayMs: 0,
    };
  },

  spend(policy, state, now, cost): Receipt {
    if (state.count === 0 || now >= state.startMs + policy.withinMs) {
      state.startMs = now;
      state.count = 0;
    }
    state.count += cost;
    if (state.count >= policy.after) {
      state.untilMs = Math.max(state.untilMs, now + policy.banMs);
      state.count = 0;
    }
    return { at: now, cost, mark: 0 };
  },

  refund() {},

  expiresAt: (policy, { startMs, count, untilMs }) =>
    Math.max(untilMs, count > 0 ? startMs + policy.withinMs : 0),
};
