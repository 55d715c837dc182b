import { createGunzip, type Gunzip } from "node:zlib";
import { messageOf } from "../errors.js";

const outputBytes = 1 << 18;

/** Whether a file begins as gzip does. */
export function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/**
 * Unpacks gzip, also of several members. Another thread unpacks a chunk while the one before is read. Whatever
 * can be unpacked of a damaged file is given, which a piped stream does not promise.
 *
 * @param onDamage - told what is wrong with a file that cannot be unpacked to its end
 */
export async function* inflated(
  packed: AsyncIterable<Buffer>,
  onDamage: (why: string) => void,
): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: outputBytes });
  let unpacked: Buffer[] = [];
  gunzip.on("data", (chunk: Buffer) => unpacked.push(chunk));
  const taken = (): Buffer[] => {
    const chunks = unpacked;
    unpacked = [];
    return chunks;
  };
  try {
    for await (const chunk of packed) {
      const ready = taken();
      const written = write(gunzip, chunk);
      yield* ready;
      const failure = await written;
      if (failure === undefined) continue;
      yield* taken();
      onDamage(failure);
      return;
    }
    yield* taken();
    const failure = await end(gunzip);
    yield* taken();
    if (failure !== undefined) onDamage(failure);
  } finally {
    gunzip.destroy();
  }
}

function write(gunzip: Gunzip, chunk: Buffer): Promise<string | undefined> {
  return settled(gunzip, (done) => gunzip.write(chunk, done));
}

function end(gunzip: Gunzip): Promise<string | undefined> {
  return settled(gunzip, (done) => {
    gunzip.once("end", () => done());
    gunzip.end();
  });
}

/** What went wrong with a step of the stream, if anything. Never rejects: nobody may be waiting any more. */
function settled(
  gunzip: Gunzip,
  step: (done: (error?: Error | null) => void) => void,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const done = (error?: Error | null): void => {
      gunzip.off("error", done);
      gunzip.off("close", done);
      resolve(error ? messageOf(error) : undefined);
    };
    gunzip.on("error", done);
    gunzip.on("close", done);
    step(done);
  });
}
