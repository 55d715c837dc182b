import { type Clock, type Millis, readClock } from "../clock.js";
import { type HeadgateError, show } from "../errors.js";
import { warn, warnOnce } from "../warnings.js";

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
    if (this.#listener !== undefined) {
      tell(this.#listener, error);
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

// The listener is the application's: neither what it throws nor a promise that it leaves may harm a request.
function tell(listener: (error: HeadgateError) => unknown, error: HeadgateError): void {
  try {
    Promise.resolve(listener(error)).catch(warnOfListener);
  } catch (thrown) {
    warnOfListener(thrown);
  }
}

function warnOfListener(thrown: unknown): void {
  const what = thrown instanceof Error ? thrown.message : show(thrown);
  warnOnce("HEADGATE_LISTENER", `onStoreError threw: ${what}`);
}
