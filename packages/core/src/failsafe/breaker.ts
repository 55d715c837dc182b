import { type Clock, type Millis, readClock } from "../clock.js";
import type { BreakerState } from "../store/store.js";
import { Watchers } from "./watchers.js";

const failuresToOpen = 5;
const shortestOpenMs = 1_000;
const longestOpenMs = 30_000;

/** What the breaker says of one call: go ahead, go ahead as the probe, or do not. */
export type Passage = "pass" | "probe" | "blocked";

/**
 * Spares a failing store and the requests that would wait for it: after 5 failures in a row it blocks
 * all calls for 1 s, then lets one live call probe; each failed probe doubles the time, up to 30 s.
 */
export class Breaker {
  readonly watchers: Watchers = new Watchers();
  readonly #clock: Clock;
  #failures = 0;
  #openMs = 0;
  #probeAt: Millis = 0;
  #probing = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Until the next probe; 0 while calls pass. */
  get retryInMs(): Millis {
    return this.#openMs === 0 ? 0 : Math.max(1, this.#probeAt - readClock(this.#clock));
  }

  get state(): BreakerState {
    if (this.#openMs === 0) return "closed";
    return this.#probing ? "half-open" : "open";
  }

  enter(): Passage {
    if (this.#openMs === 0) return "pass";
    if (this.#probing || readClock(this.#clock) < this.#probeAt) return "blocked";
    this.#probing = true;
    this.#tell();
    return "probe";
  }

  /**
   * Takes note of how a call went that had entered; undefined when it never reached the store. While
   * open, only the probe's word counts.
   */
  leave(passage: Passage, failed: boolean | undefined): void {
    const before = this.state;
    this.#note(passage, failed);
    if (this.state !== before) this.#tell();
  }

  #note(passage: Passage, failed: boolean | undefined): void {
    if (passage === "probe") this.#probing = false;
    else if (this.#openMs > 0) return;
    if (failed === undefined) return;
    if (!failed) {
      this.#failures = 0;
      this.#openMs = 0;
      return;
    }
    this.#failures += 1;
    if (passage === "probe" || this.#failures >= failuresToOpen) {
      this.#openMs = Math.min(longestOpenMs, Math.max(shortestOpenMs, this.#openMs * 2));
      this.#probeAt = readClock(this.#clock) + this.#openMs;
    }
  }

  #tell(): void {
    this.watchers.tell({ type: "breaker", state: this.state });
  }
}
