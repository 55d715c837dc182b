import type { Millis } from "../../clock.js";
import type { Outcome } from "../../store/store.js";
import type { Answer } from "../expectation.js";

/** The instant that a state holds after an admission, worked out from what the outcome told. */
export function stateInstant({ policy, resetMs }: Outcome, now: Millis): Millis {
  switch (policy.algorithm) {
    case "fixed-window":
    case "sliding-window":
      return now + resetMs - policy.windowMs;
    case "sliding-window-counter":
      return now + resetMs - 2 * policy.windowMs;
    case "token-bucket":
    case "leaky-bucket":
      return now;
  }
}

/** An answer as it is to an earlier clock: decided at the same instant, which is so much longer ahead. */
export function later(answer: Answer, byMs: Millis): Answer {
  const { retryAfterMs, nextMs, resetMs } = answer;
  return {
    ...answer,
    retryAfterMs: retryAfterMs === 0 ? 0 : retryAfterMs + byMs,
    nextMs: nextMs === undefined ? undefined : nextMs + byMs,
    resetMs: resetMs === 0 ? 0 : resetMs + byMs,
  };
}
