import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { inputError, messageOf } from "../errors.js";
import { inflated, isGzip } from "./inflate.js";

const chunkBytes = 1 << 17;

/** Compressed forms that are told by their first bytes and not read, with what unpacks them. */
const unread: readonly (readonly [start: string, tool: string])[] = [
  ["28b52ffd", "zstdcat"],
  ["fd377a585a00", "xzcat"],
  ["425a68", "bzcat"],
  ["504b0304", "unzip -p"],
];

/** One log: a file, or what comes through the standard input. */
export class LogInput {
  /** As it was named; `-` is the standard input. */
  readonly name: string;
  /** Undefined for what has no size beforehand. */
  readonly sizeBytes: number | undefined;
  readonly #open: () => Readable;
  #readBytes = 0;
  #damage: string | undefined;

  constructor(name: string, sizeBytes: number | undefined, open: () => Readable) {
    this.name = name;
    this.sizeBytes = sizeBytes;
    this.#open = open;
  }

  /** How much of it has been read, as it lies on the disk. */
  get readBytes(): number {
    return this.#readBytes;
  }

  /** Why it could not be read to its end; undefined when it could. */
  get damage(): string | undefined {
    return this.#damage;
  }

  /** Its bytes, unpacked. What can be read of a damaged file is given; then `damage` says why no more is. */
  async *chunks(): AsyncGenerator<Buffer> {
    this.#readBytes = 0;
    const raw = this.#raw();
    const { value: first } = await raw.next();
    if (first === undefined) return;
    const packed = unread.find(([start]) => first.subarray(0, 6).toString("hex").startsWith(start));
    if (packed !== undefined) {
      const [, tool] = packed;
      throw inputError(`${this.name}: is packed; unpack it first: ${tool} FILE | headgate … -`);
    }
    const whole = followedBy(first, raw);
    yield* isGzip(first) ? inflated(whole, (why) => this.#damaged(why)) : whole;
  }

  async *#raw(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of this.#open()) {
        this.#readBytes += (chunk as Buffer).length;
        yield chunk as Buffer;
      }
    } catch (error) {
      this.#damaged(messageOf(error));
    }
  }

  #damaged(why: string): void {
    this.#damage ??= why;
  }
}

async function* followedBy(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

/**
 * Finds the logs that were named.
 *
 * @throws CommandError for a file that is not there, a folder, or one that is named twice
 */
export async function openInputs(
  names: readonly string[],
  standardInput: Readable,
): Promise<readonly LogInput[]> {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw inputError(`${twice}: is named twice`);
  return Promise.all(
    names.map(async (name) => {
      if (name === "-") return new LogInput("standard input", undefined, () => standardInput);
      return fileInput(name);
    }),
  );
}

/** @throws CommandError for a file that is not there, or a folder */
export async function fileInput(path: string, name: string = path): Promise<LogInput> {
  const found = await stat(path).catch((error: unknown) => {
    throw inputError(`${path}: cannot be read: ${messageOf(error)}`, error);
  });
  if (found.isDirectory()) throw inputError(`${path}: is a folder; name the logs in it`);
  const size = found.isFile() ? found.size : undefined;
  return new LogInput(name, size, () => createReadStream(path, { highWaterMark: chunkBytes }));
}
