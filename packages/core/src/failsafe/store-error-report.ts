import { type Clock, type Millis, readClock } from "../clock.js";
import type { HeadgateError } from "../errors.js";
import { tell } from "../listener.js";
import { warn } from "../warnings.js";

const quietMs = 1_000;

/** Tells of store failures: to the application's listener, or as a process warning at most once a second. */
export class StoreErrorReport {
  readonly #clock: Clock;
  readonly #listener: ((error: HeadgateError) => void) | undefined;
  #quietUntil: Millis = 0;

  constructor(clock: Clock, listener: ((error: HeadgateError) => void) | undefined) {
    this.#clock = clock;
    this.#listener = listener;
  }

  add(error: HeadgateError): void {
    const listener = this.#listener;
    if (listener !== undefined) {
      tell("onStoreError", () => listener(error));
      return;
    }
    const now = readClock(this.#clock);
    if (now < this.#quietUntil) return;
    this.#quietUntil = now + quietMs;
    warn(
      "HEADGATE_STORE",
      `${error.message} (${error.code}); requests follow their policies' onStoreFailure`,
    );
  }
}
