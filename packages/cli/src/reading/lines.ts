/** Bytes of one line that are read at most: no request line of a real server is longer. */
const longestLine = 1 << 20;
const [newline, carriageReturn] = [0x0a, 0x0d];

/** Told of each line: the part of a chunk that it is, without its line break. Blank lines are left out. */
type LineListener = (bytes: Buffer, start: number, end: number) => void;

/** Cuts chunks of bytes into lines. A line over a megabyte is given as its first megabyte alone. */
export class LineSplitter {
  readonly #listener: LineListener;
  #rest: Buffer | undefined;
  #skipping = false;

  constructor(listener: LineListener) {
    this.#listener = listener;
  }

  write(chunk: Buffer): void {
    let start = 0;
    let end = chunk.indexOf(newline);
    if (end >= 0 && (this.#rest !== undefined || this.#skipping)) {
      this.#endRest(chunk.subarray(0, end));
      start = end + 1;
      end = chunk.indexOf(newline, start);
    }
    while (end >= 0) {
      this.#tell(chunk, start, end);
      start = end + 1;
      end = chunk.indexOf(newline, start);
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  /** Gives what stands after the last line break. */
  end(): void {
    this.#endRest(Buffer.alloc(0));
  }

  #keep(bytes: Buffer): void {
    if (this.#skipping) return;
    this.#rest = this.#rest === undefined ? bytes : Buffer.concat([this.#rest, bytes]);
    if (this.#rest.length <= longestLine) return;
    this.#tell(this.#rest, 0, longestLine);
    this.#rest = undefined;
    this.#skipping = true;
  }

  #endRest(bytes: Buffer): void {
    const line = this.#rest === undefined ? bytes : Buffer.concat([this.#rest, bytes]);
    this.#rest = undefined;
    if (!this.#skipping) this.#tell(line, 0, line.length);
    this.#skipping = false;
  }

  #tell(bytes: Buffer, start: number, end: number): void {
    const cut = end > start && bytes[end - 1] === carriageReturn ? end - 1 : end;
    if (cut > start) this.#listener(bytes, start, cut);
  }
}
