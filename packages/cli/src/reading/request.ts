import type { Millis } from "@headgate/core";

/** One request as a log tells it. */
export interface LoggedRequest {
  /** When it was made, in milliseconds since the epoch; set later where it came too late to be decided then. */
  timeMs: Millis;
  /** A field of the line by name, such as `ip`, `user`, `method`, `path` or `status`; undefined when it has none. */
  field(name: string): string | undefined;
  /** The names of the fields that the line has. */
  fieldNames(): readonly string[];
}

/** Reads one line, given as a part of a chunk of bytes: a request, or what is wrong with the line. */
export type LineParser = (bytes: Buffer, start: number, end: number) => LoggedRequest | string;
