import type { Writable } from "node:stream";
import type { LogInput } from "../reading/input.js";
import { wholeNumber } from "../words/durations.js";

const everyMs = 100;
const barWidth = 24;

/** Where progress is shown, when it is a terminal. */
export type ProgressStream = Writable & { readonly isTTY?: boolean };

/** Shows on a terminal how far the reading of logs has come; elsewhere it shows nothing. */
export class Progress {
  readonly #stream: ProgressStream;
  readonly #inputs: readonly LogInput[];
  readonly #task: string;
  readonly #startMs = performance.now();
  #shownMs = Number.NEGATIVE_INFINITY;

  constructor(stream: ProgressStream, inputs: readonly LogInput[], task: string) {
    this.#stream = stream;
    this.#inputs = inputs;
    this.#task = task;
  }

  /** Shows the present state, unless it did so just now. */
  show(lines: number): void {
    if (this.#stream.isTTY !== true) return;
    const nowMs = performance.now();
    if (nowMs - this.#shownMs < everyMs) return;
    this.#shownMs = nowMs;
    const perSecond = (lines / Math.max(1, nowMs - this.#startMs)) * 1_000;
    const numbers = `${wholeNumber(lines)} lines, ${wholeNumber(perSecond)} per second`;
    this.#stream.write(`\r\x1b[K${this.#task} ${this.#bar()}${numbers}`);
  }

  /** Takes the progress away again. */
  clear(): void {
    if (this.#stream.isTTY === true) this.#stream.write("\r\x1b[K");
  }

  /** No bar for an input whose length nobody knows. */
  #bar(): string {
    let [read, size] = [0, 0];
    for (const { readBytes, sizeBytes } of this.#inputs) {
      if (sizeBytes === undefined) return "";
      read += readBytes;
      size += sizeBytes;
    }
    const share = size === 0 ? 1 : Math.min(1, read / size);
    const full = Math.floor(share * barWidth);
    const percent = `${Math.floor(share * 100)} %`.padStart(5);
    return `${"█".repeat(full)}${"░".repeat(barWidth - full)} ${percent}  `;
  }
}
