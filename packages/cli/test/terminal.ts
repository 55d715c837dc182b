import { Readable, Writable } from "node:stream";
import { run } from "../src/index.js";

/** What a command wrote and how it ended. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly errors: string;
}

class Collector extends Writable {
  text = "";
  readonly isTTY: boolean;

  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }

  override _write(chunk: Buffer | string, _encoding: string, done: () => void): void {
    this.text += String(chunk);
    done();
  }
}

/** Runs the command line in this process. */
export async function headgate(
  args: readonly string[],
  {
    input = "",
    isTTY = false,
  }: { readonly input?: string | Buffer; readonly isTTY?: boolean } = {},
): Promise<Ran> {
  const [stdout, stderr] = [new Collector(isTTY), new Collector(isTTY)];
  const stdin = Readable.from([Buffer.from(input)]);
  const code = await run(args, { stdin, stdout, stderr });
  return { code, out: stdout.text, errors: stderr.text };
}
