import type { Millis } from "@headgate/core";
import type { LogReader } from "./log-reader.js";
import type { LoggedRequest } from "./request.js";

const atOnce = 4_096;

/** A log and the part of it that has been read but not given on. */
class Head {
  /** Its place among the logs as they were named. */
  readonly place: number;
  /** An instant before which it holds nothing. */
  readonly fromMs: Millis;
  readonly #batches: AsyncIterator<readonly LoggedRequest[]>;
  #batch: readonly LoggedRequest[] = [];
  #next = 0;

  constructor(reader: LogReader, place: number, fromMs: Millis) {
    this.place = place;
    this.fromMs = fromMs;
    this.#batches = reader.batches();
  }

  get request(): LoggedRequest {
    return this.#batch[this.#next] as LoggedRequest;
  }

  /** Goes to the next request at hand; false when more must be read first. */
  advance(): boolean {
    this.#next += 1;
    return this.#next < this.#batch.length;
  }

  /** Reads on; false at the end. */
  async fill(): Promise<boolean> {
    for (;;) {
      const { done, value } = await this.#batches.next();
      if (done === true) return false;
      if (value.length === 0) continue;
      this.#batch = value;
      this.#next = 0;
      return true;
    }
  }
}

/**
 * The requests of several logs in order, whether the logs follow one another, in whatever order they are named, or
 * were written side by side by several servers. Of one instant, the log named first goes first.
 */
export async function* merged(
  readers: readonly LogReader[],
): AsyncGenerator<readonly LoggedRequest[]> {
  if (readers.length === 1) return yield* (readers[0] as LogReader).batches();
  const ahead: Head[] = [];
  for (const [place, reader] of readers.entries())
    ahead.push(new Head(reader, place, await reader.startsFromMs()));
  ahead.sort((a, b) => a.fromMs - b.fromMs);
  const heads: Head[] = [];
  let ready: LoggedRequest[] = [];
  for (;;) {
    while (isDue(ahead, heads)) await begin(ahead, heads);
    if (heads.length === 0) break;
    const first = earliest(heads);
    ready.push(first.request);
    if (ready.length === atOnce) {
      yield ready;
      ready = [];
    }
    if (!first.advance() && !(await first.fill())) heads.splice(heads.indexOf(first), 1);
  }
  yield ready;
}

/** Whether the next log may hold something before all that is at hand. Until then, it needs no memory. */
function isDue([next]: readonly Head[], heads: readonly Head[]): boolean {
  if (next === undefined) return false;
  return heads.length === 0 || next.fromMs <= earliest(heads).request.timeMs;
}

async function begin(ahead: Head[], heads: Head[]): Promise<void> {
  const next = ahead.shift() as Head;
  if (await next.fill()) heads.push(next);
  heads.sort((a, b) => a.place - b.place);
}

/** The log whose next request is the earliest; of several, the one named first. */
function earliest(heads: readonly Head[]): Head {
  let first = heads[0] as Head;
  for (const head of heads) if (head.request.timeMs < first.request.timeMs) first = head;
  return first;
}
