import { tell } from "../listener.js";

const quietMs = 1_000;

type Write = (suppressed: number) => void;

interface Burst {
  readonly timer: ReturnType<typeof setTimeout>;
  /** Writes the last line that was held back; undefined while there is none. */
  last: Write | undefined;
  held: number;
}

/**
 * Lets one line for each cause and second through. Of those held back the last is written when the second is
 * over, with how many more there were.
 */
export class Bursts {
  readonly #bursts = new Map<string, Burst>();

  add(cause: string, write: Write): void {
    const burst = this.#bursts.get(cause);
    if (burst === undefined) {
      this.#begin(cause, write, 0);
    } else {
      burst.last = write;
      burst.held += 1;
    }
  }

  /** Writes what is held back, and ends all timers. */
  end(): void {
    for (const { timer, last, held } of this.#bursts.values()) {
      clearTimeout(timer);
      if (last !== undefined) writeLine(last, held - 1);
    }
    this.#bursts.clear();
  }

  #begin(cause: string, write: Write, suppressed: number): void {
    const timer = setTimeout(() => this.#next(cause), quietMs);
    // A line to come must not keep a process alive; only Node has such timers.
    (timer as { unref?(): void }).unref?.();
    this.#bursts.set(cause, { timer, last: undefined, held: 0 });
    writeLine(write, suppressed);
  }

  #next(cause: string): void {
    const burst = this.#bursts.get(cause);
    this.#bursts.delete(cause);
    if (burst?.last !== undefined) this.#begin(cause, burst.last, burst.held - 1);
  }
}

function writeLine(write: Write, suppressed: number): void {
  tell("logDecisions", () => write(suppressed));
}
