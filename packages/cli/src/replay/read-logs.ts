import { inputError } from "../errors.js";
import type { LogInput } from "../reading/input.js";
import { LogReader, type ReadingOptions } from "../reading/log-reader.js";
import { merged } from "../reading/merged.js";
import type { Progress } from "../terminal/progress.js";
import { safeText } from "../terminal/safe-text.js";
import type { Replay } from "./replay.js";

/**
 * Reads logs to their end and gives every request to a replay.
 *
 * @throws CommandError when no line of them tells a request, or none has a policy's key
 */
export async function readLogs(
  inputs: readonly LogInput[],
  replay: Replay,
  { progress, ...options }: ReadingOptions & { readonly progress: Progress },
): Promise<readonly LogReader[]> {
  const readers = inputs.map((input) => new LogReader(input, options));
  try {
    for await (const batch of merged(readers)) {
      for (const request of batch) replay.take(request);
      progress.show(readers.reduce((lines, reader) => lines + reader.lines, 0));
    }
  } finally {
    progress.clear();
  }
  if (replay.requests === 0) throw inputError(whyNothing(readers));
  replay.check([...new Set(readers.flatMap(({ fieldNames }) => fieldNames))]);
  return readers;
}

function whyNothing(readers: readonly LogReader[]): string {
  const names = readers.map(({ input }) => input.name).join(", ");
  const damages = readers.flatMap(({ input: { damage } }) => damage ?? []);
  if (damages.length > 0) return `${names}: cannot be read: ${damages.join("; ")}`;
  const examples = readers.flatMap((reader) => reader.examples);
  if (examples.length === 0) return `${names}: holds no line`;
  return [
    `${names}: no line tells a request. Lines must be in the common or combined log format, or JSON objects with a time:`,
    ...examples.map(({ line, why, text }) => `  line ${line}: ${why}: ${safeText(text)}`),
  ].join("\n");
}
