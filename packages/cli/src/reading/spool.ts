import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileInput, type LogInput } from "./input.js";

/** An input that can be read again. */
export interface Spooled {
  readonly input: LogInput;
  /** Removes what it was kept in. */
  readonly remove: () => Promise<void>;
}

/** Keeps what comes through a stream in a file, so that it can be read more than once. */
export async function spool(stream: Readable, name: string): Promise<Spooled> {
  const folder = await mkdtemp(join(tmpdir(), "headgate-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const file = join(folder, "input");
    await pipeline(stream, createWriteStream(file, { mode: 0o600 }));
    return { input: await fileInput(file, name), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
