import type { Readable, Writable } from "node:stream";
import type { ProgressStream } from "../terminal/progress.js";

/** The streams of a command. `process` is one. */
export interface Terminal {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: ProgressStream;
}
