import type { Millis } from "../clock.js";

/** The requests that wait for their slot in a leaky bucket. */
export class Holds {
  readonly #waiting = new Set<() => void>();
  readonly #closing: AbortSignal;

  /** @param closing - lets every held request go on at once, and all later ones */
  constructor(closing: AbortSignal) {
    this.#closing = closing;
    closing.addEventListener("abort", () => {
      for (const release of [...this.#waiting]) release();
    });
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
