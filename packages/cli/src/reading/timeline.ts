import type { Millis } from "@headgate/core";
import type { LoggedRequest } from "./request.js";

/** Requests that wait at most: however many a window holds, memory stays bounded. */
const mostWaiting = 100_000;
const secondMs = 1_000;

/**
 * Puts the requests of one log in order. A request waits until the log has gone on by the window; one that comes even
 * later than that is decided at the instant that has been reached, and counted.
 *
 * One line with a time far ahead does not carry the others along: the log has gone on as far as two lines say.
 */
export class Timeline {
  readonly #windowMs: Millis;
  /** Waiting requests by the second they were made in: those of one second are mostly in order already. */
  readonly #seconds = new Map<number, LoggedRequest[]>();
  #first = Number.POSITIVE_INFINITY;
  #waiting = 0;
  #newestMs = Number.NEGATIVE_INFINITY;
  #confirmedMs = Number.NEGATIVE_INFINITY;
  #reachedMs = Number.NEGATIVE_INFINITY;
  #due: LoggedRequest[] = [];
  #outOfOrder = 0;
  #late = 0;

  constructor(windowMs: Millis) {
    this.#windowMs = windowMs;
  }

  /** Requests that stood behind a later one. */
  get outOfOrder(): number {
    return this.#outOfOrder;
  }

  /** Requests that came later than the window allows. */
  get late(): number {
    return this.#late;
  }

  add(request: LoggedRequest): void {
    const { timeMs } = request;
    if (timeMs < this.#newestMs) this.#outOfOrder += 1;
    if (timeMs < this.#reachedMs) {
      this.#late += 1;
      request.timeMs = this.#reachedMs;
      this.#due.push(request);
      return;
    }
    const second = Math.floor(timeMs / secondMs);
    const waiting = this.#seconds.get(second);
    if (waiting === undefined) this.#seconds.set(second, [request]);
    else waiting.push(request);
    this.#first = Math.min(this.#first, second);
    this.#waiting += 1;
    this.#see(timeMs);
    if (this.#waiting > mostWaiting) this.#release(this.#first);
  }

  /** Takes the requests that are due, in order. */
  take(): readonly LoggedRequest[] {
    const due = this.#due;
    this.#due = [];
    return due;
  }

  /** Makes all that still wait due. */
  end(): void {
    this.#releaseBefore(Number.POSITIVE_INFINITY);
  }

  #see(timeMs: Millis): void {
    if (timeMs >= this.#newestMs) {
      this.#confirmedMs = this.#newestMs;
      this.#newestMs = timeMs;
    } else if (timeMs > this.#confirmedMs) {
      this.#confirmedMs = timeMs;
    }
    const before = Math.floor((this.#confirmedMs - this.#windowMs) / secondMs);
    if (this.#first < before) this.#releaseBefore(before);
  }

  #releaseBefore(second: number): void {
    while (this.#first < second) this.#release(this.#first);
  }

  #release(second: number): void {
    const requests = this.#seconds.get(second) as LoggedRequest[];
    this.#seconds.delete(second);
    this.#waiting -= requests.length;
    this.#first = Number.POSITIVE_INFINITY;
    for (const waiting of this.#seconds.keys()) this.#first = Math.min(this.#first, waiting);
    // Stable: what was logged at one instant stays in the order of the log.
    for (const request of requests.sort((a, b) => a.timeMs - b.timeMs)) {
      this.#reachedMs = request.timeMs;
      this.#due.push(request);
    }
  }
}
