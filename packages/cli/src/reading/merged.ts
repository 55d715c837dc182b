import type { Millis } from "@headgate/core";
import type { LogReader } from "./log-reader.js";
import type { LoggedRequest } from "./request.js";

const mostAtOnce = 4_096;

/** A log and the part of it that has been read but not given on. */
class Head {
  readonly #batches: AsyncIterator<readonly LoggedRequest[]>;
  #batch: readonly LoggedRequest[] = [];
  #next = 0;

  constructor(reader: LogReader) {
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
  const heads: Head[] = [];
  for (const reader of readers) {
    const head = new Head(reader);
    if (await head.fill()) heads.push(head);
  }
  while (heads.length > 0) {
    const first = earliest(heads);
    const others = heads.filter((head) => head !== first);
    const untilMs = others.length === 0 ? Infinity : earliest(others).request.timeMs;
    const wins = others.length === 0 || heads.indexOf(first) < heads.indexOf(earliest(others));
    const { requests, hasMore } = run(first, untilMs, wins);
    yield requests;
    if (!hasMore && !(await first.fill())) heads.splice(heads.indexOf(first), 1);
  }
}

function earliest(heads: readonly Head[]): Head {
  return heads.reduce((first, head) => (head.request.timeMs < first.request.timeMs ? head : first));
}

/** The requests of one log up to the instant at which another has its turn. */
function run(
  head: Head,
  untilMs: Millis,
  wins: boolean,
): { readonly requests: readonly LoggedRequest[]; readonly hasMore: boolean } {
  const requests: LoggedRequest[] = [];
  while (requests.length < mostAtOnce) {
    const { request } = head;
    if (requests.length > 0 && (request.timeMs > untilMs || (request.timeMs === untilMs && !wins)))
      break;
    requests.push(request);
    if (!head.advance()) return { requests, hasMore: false };
  }
  return { requests, hasMore: true };
}
