import type { Millis } from "@headgate/core";
import { accessLineParser } from "./access-line.js";
import type { LogInput } from "./input.js";
import { jsonLineParser } from "./json-line.js";
import { LineSplitter } from "./lines.js";
import type { LineParser, LoggedRequest } from "./request.js";
import { Timeline } from "./timeline.js";

const brace = 0x7b;
const mostExamples = 5;
const longestExample = 160;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** A line that tells no request. */
export interface BrokenLine {
  readonly file: string;
  readonly line: number;
  /** What is wrong with it. */
  readonly why: string;
  /** Its beginning. */
  readonly text: string;
}

/** How logs are to be read. */
export interface ReadingOptions {
  /** Where the time of JSON lines is, when it is at none of the usual places. */
  readonly timeField?: string | undefined;
  /** How far out of order lines may be. */
  readonly reorderMs: Millis;
}

/** Reads one log into requests in order, and keeps count of its lines. */
export class LogReader {
  readonly input: LogInput;
  readonly #timeline: Timeline;
  readonly #reorderMs: Millis;
  readonly #parseAccess: LineParser = accessLineParser();
  readonly #parseJson: LineParser;
  readonly #examples: BrokenLine[] = [];
  #lines = 0;
  #broken = 0;
  #fieldNames: readonly string[] = [];

  constructor(input: LogInput, { timeField, reorderMs }: ReadingOptions) {
    this.input = input;
    this.#timeline = new Timeline(reorderMs);
    this.#reorderMs = reorderMs;
    this.#parseJson = jsonLineParser(timeField);
  }

  /** Lines read so far, blank ones aside. */
  get lines(): number {
    return this.#lines;
  }

  get broken(): number {
    return this.#broken;
  }

  /** The first broken lines. */
  get examples(): readonly BrokenLine[] {
    return this.#examples;
  }

  get outOfOrder(): number {
    return this.#timeline.outOfOrder;
  }

  get late(): number {
    return this.#timeline.late;
  }

  /** The fields that the first request has. */
  get fieldNames(): readonly string[] {
    return this.#fieldNames;
  }

  /**
   * An instant before which the log holds nothing, told by its first lines alone; -Infinity where they do not tell,
   * or where what is looked at cannot be read again.
   */
  async startsFromMs(): Promise<Millis> {
    if (this.input.sizeBytes === undefined) return Number.NEGATIVE_INFINITY;
    const found: Millis[] = [];
    for await (const chunk of this.input.chunks()) {
      const splitter = new LineSplitter((bytes, start, end) => {
        const request = found.length === 0 ? this.#parse(bytes, start, end) : "";
        if (typeof request !== "string") found.push(request.timeMs);
      });
      splitter.write(chunk);
      // Perhaps the beginning of a line alone; where it tells a time, it is that of the line.
      splitter.end();
      break;
    }
    const [firstMs = Number.NEGATIVE_INFINITY] = found;
    return firstMs - this.#reorderMs;
  }

  /** The requests in order, as many at once as became due together. */
  async *batches(): AsyncGenerator<readonly LoggedRequest[]> {
    const splitter = new LineSplitter((bytes, start, end) => this.#read(bytes, start, end));
    for await (const chunk of this.input.chunks()) {
      splitter.write(chunk);
      yield this.#timeline.take();
    }
    splitter.end();
    this.#timeline.end();
    yield this.#timeline.take();
  }

  #read(bytes: Buffer, from: number, end: number): void {
    const marked = this.#lines === 0 && bytes.subarray(from, from + 3).equals(byteOrderMark);
    const start = marked ? from + byteOrderMark.length : from;
    this.#lines += 1;
    const request = this.#parse(bytes, start, end);
    if (typeof request === "string") {
      this.#broken += 1;
      if (this.#examples.length < mostExamples)
        this.#examples.push({
          file: this.input.name,
          line: this.#lines,
          why: request,
          text: bytes.toString("utf8", start, Math.min(end, start + longestExample)),
        });
      return;
    }
    if (this.#fieldNames.length === 0) this.#fieldNames = request.fieldNames();
    this.#timeline.add(request);
  }

  #parse(bytes: Buffer, start: number, end: number): LoggedRequest | string {
    const parse = bytes[start] === brace ? this.#parseJson : this.#parseAccess;
    return parse(bytes, start, end);
  }
}
