import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** The core's main entry as one plain module, made of the present source. */
export interface BundledCore {
  readonly path: string;
  /** Every module in it, dependencies included. */
  readonly modules: readonly string[];
  /** What it imports from outside. */
  readonly imports: readonly string[];
  /** Keeps a module's text beside it, as a file. */
  write(name: string, text: string): string;
  /** Runs a module's text in a process of its own, which must end by itself. */
  run(text: string, env?: Readonly<Record<string, string | undefined>>): Promise<Ending>;
  remove(): void;
}

export async function bundleCore(): Promise<BundledCore> {
  const folder = mkdtempSync(join(tmpdir(), "headgate-core-"));
  const path = join(folder, "core.mjs");
  const { metafile } = await build({
    entryPoints: [fileURLToPath(new URL("../src/index.ts", import.meta.url))],
    outfile: path,
    bundle: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    metafile: true,
    logLevel: "silent",
  });
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  return {
    path,
    write,
    run: (text, env = {}) => run(write("script.mjs", text), env),
    modules: Object.keys(metafile.inputs),
    imports: Object.values(metafile.outputs).flatMap((output) =>
      output.imports.map((imported) => imported.path),
    ),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** How a Node.js process ended, and what it wrote. */
interface Ending {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script file in a process of its own, which must end by itself. */
function run(path: string, env: Readonly<Record<string, string | undefined>>): Promise<Ending> {
  // A channel to the test runner would make it a forked process.
  const { NODE_CHANNEL_FD: _, ...inherited } = process.env;
  const child = spawn(process.execPath, [path], { env: { ...inherited, ...env } });
  const written = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => {
    written.stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    written.stderr += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, ...written }));
  });
}
