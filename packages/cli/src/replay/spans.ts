import type { Millis } from "@headgate/core";
import { Column } from "./columns.js";

/** The most spans that the time of a log is cut into. */
const mostSpans = 240;
/** Each width is a multiple of the one before, so that spans can be joined. */
const widthsSeconds = [
  1, 5, 15, 30, 60, 300, 900, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400, 604_800, 2_419_200,
  31_449_600,
];

/** Cuts the time of a log into spans of one width, which grows with the log, and lets others count in them. */
export class Spans {
  readonly #columns: Column[] = [];
  #widthMs: Millis = 1_000;
  #first = 0;
  #count = 0;

  get widthMs(): Millis {
    return this.#widthMs;
  }

  get startMs(): Millis {
    return this.#first * this.#widthMs;
  }

  get count(): number {
    return this.#count;
  }

  /** Another count for each span. */
  column(): Column {
    const column = new Column();
    this.#columns.push(column);
    return column;
  }

  /** The counts of a column, from the first span to the last. */
  countsOf(column: Column): readonly number[] {
    return Array.from({ length: this.#count }, (_, span) => column.get(span));
  }

  /** The span of an instant, which is never before the first one that was asked for. */
  at(timeMs: Millis): number {
    if (this.#count === 0) this.#first = Math.floor(timeMs / this.#widthMs);
    let span = Math.floor(timeMs / this.#widthMs) - this.#first;
    while (span >= mostSpans) {
      this.#widen();
      span = Math.floor(timeMs / this.#widthMs) - this.#first;
    }
    this.#count = Math.max(this.#count, span + 1);
    return span;
  }

  #widen(): void {
    const seconds = this.#widthMs / 1_000;
    const wider = (widthsSeconds.find((width) => width > seconds) ?? seconds * 2) * 1_000;
    const joined = wider / this.#widthMs;
    const first = Math.floor(this.#first / joined);
    for (const column of this.#columns) {
      const counts = this.countsOf(column);
      column.keep([]);
      counts.forEach((count, span) => {
        const into = Math.floor((this.#first + span) / joined) - first;
        column.set(into, column.get(into) + count);
      });
    }
    this.#count = Math.floor((this.#first + this.#count - 1) / joined) - first + 1;
    this.#first = first;
    this.#widthMs = wider;
  }
}
