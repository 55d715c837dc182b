// Keys whose window is full, to see whether a call costs more at a large limit.
import { definePolicy, memoryStore, slidingWindow, tokenBucket } from "@headgate/core";
import { ManualClock } from "@headgate/core/testing";

const windowMs = 1_000_000;

/** One key of a store in memory, and a clock that moves when it is told to. */
export class Life {
  #clock = new ManualClock(1_700_000_000_000);
  #store = memoryStore({ clock: this.#clock });
  #batch;
  #others;
  #limit;

  constructor({ algorithm, limit }) {
    const make = algorithm === "token-bucket" ? tokenBucket : slidingWindow;
    const policy = definePolicy("growth", make({ limit, window: windowMs }));
    this.#batch = [{ policy, subject: "client", cost: 1 }];
    this.#others = [{ policy, subject: "another client", cost: 1 }];
    this.#limit = limit;
  }

  call() {
    return this.#store.apply(this.#batch, "commit");
  }

  /** A call of another client, whose own window is new. It does not touch the key. */
  callOther() {
    this.#store.reset(this.#others[0].policy, "another client");
    return this.#store.apply(this.#others, "commit");
  }

  /** One unit expires for each that comes. */
  step() {
    this.#clock.advance(windowMs / this.#limit);
  }

  /** All but the last unit, or all, expire before the next call. */
  expire({ all }) {
    this.#clock.advance(all ? 2 * windowMs : windowMs - Math.floor(windowMs / this.#limit));
  }

  /** Starts afresh, with units that lie evenly in the window that ends now; `calls` of them or more. */
  fill(calls = this.#limit) {
    for (let made = 0; made < calls; made += this.#limit) {
      this.#store.reset(this.#batch[0].policy, "client");
      for (let unit = 0; unit < this.#limit; unit += 1) {
        if (unit > 0) this.step();
        this.call();
      }
    }
  }
}
