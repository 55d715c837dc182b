import type { Millis } from "../clock.js";

const mostRemembered = 10_000;

/** What has been told of whom, each for a time. At the cap the oldest makes room, and may be told again. */
export class Remembered {
  readonly #until = new Map<string, Millis>();

  get size(): number {
    return this.#until.size;
  }

  /** Whether something is news at an instant; then it is none for `forMs`. */
  isNews(what: string, now: Millis, forMs: Millis): boolean {
    const until = this.#until.get(what);
    if (until !== undefined && now < until) return false;
    // Set anew, so that the order of the map is that of the telling.
    this.#until.delete(what);
    if (this.#until.size >= mostRemembered)
      this.#until.delete(this.#until.keys().next().value as string);
    this.#until.set(what, now + forMs);
    return true;
  }
}
