import type { Millis } from "../clock.js";

// By the signal, so that a limiter has one listener however often it is mounted: from the 11th on Node warns of a leak.
const waitingFor = new WeakMap<AbortSignal, Set<() => void>>();

/** The requests that wait for their slot in a leaky bucket. */
export class Holds {
  readonly #waiting: Set<() => void>;
  readonly #closing: AbortSignal;

  /** @param closing - lets every held request go on at once, and all later ones */
  constructor(closing: AbortSignal) {
    this.#closing = closing;
    this.#waiting = waitingFor.get(closing) ?? releasedBy(closing);
  }

  /**
   * Goes on after `delayMs`.
   *
   * @returns gives the request up: it will not go on, and its slot stays used
   */
  hold(delayMs: Millis, goOn: () => void): () => void {
    const release = (): void => {
      giveUp();
      goOn();
    };
    const timer = setTimeout(release, this.#closing.aborted ? 0 : delayMs);
    const giveUp = (): void => {
      clearTimeout(timer);
      this.#waiting.delete(release);
    };
    this.#waiting.add(release);
    return giveUp;
  }
}

/** A set for what is to go on when the signal is aborted. */
function releasedBy(closing: AbortSignal): Set<() => void> {
  const waiting = new Set<() => void>();
  waitingFor.set(closing, waiting);
  closing.addEventListener("abort", () => {
    for (const release of [...waiting]) release();
  });
  return waiting;
}
