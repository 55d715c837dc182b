import type { Millis } from "@headgate/core";

/** How fast a bound that is too low rises again: above the drift of any clock, far below a call's time. */
const risePerMs = 0.001;

/**
 * Knows the server's time from its replies, so that a call can name the last instant at which it may run.
 *
 * A reply was made after its call was sent, so its time less the sending instant bounds from above how far
 * the server's clock is ahead of this process's monotonic one; the lowest bound is the best. It rises
 * slowly, so that a drifting clock does not make it wrong.
 */
export class ServerClock {
  #aheadMs: number | undefined;
  #learntAt: Millis = 0;

  /** A local instant in the server's time, at most a call's travel time too late; 0 while nothing is known. */
  serverTimeAt(localMs: Millis): Millis {
    return this.#aheadMs === undefined ? 0 : Math.ceil(localMs + this.#aheadMs);
  }

  /** Learns from a reply whose call was sent at `sentAt`. */
  learn(serverMs: Millis, sentAt: Millis): void {
    const bound = serverMs + 1 - sentAt;
    const known = this.#aheadMs;
    const risen =
      known === undefined ? bound : known + Math.max(0, sentAt - this.#learntAt) * risePerMs;
    this.#aheadMs = Math.min(bound, risen);
    this.#learntAt = sentAt;
  }

  /** Learns from a reply which shows that all that was known is wrong. */
  relearn(serverMs: Millis, sentAt: Millis): void {
    this.#aheadMs = undefined;
    this.learn(serverMs, sentAt);
  }
}
