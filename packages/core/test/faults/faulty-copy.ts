import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";
import type { MemoryStore, MemoryStoreOptions } from "../../src/store/memory/memory-store.js";
import type * as Laws from "../../src/testing/laws/index.js";

const sourceFolder = fileURLToPath(new URL("../../src/", import.meta.url));
const packageFolder = fileURLToPath(new URL("../../", import.meta.url));
const load = createRequire(import.meta.url);

/** What a copy of the source gives: its store, and the laws as they run in it. */
export interface Copy {
  readonly memoryStore: (options: MemoryStoreOptions) => MemoryStore;
  readonly laws: typeof Laws;
}

/** A replacement of text that a file must hold exactly once. */
export interface Patch {
  readonly file: string;
  readonly text: string;
  readonly instead: string;
}

/** Copies of the core's source as plain modules in a folder of their own, each perhaps with a fault. */
export class Copies {
  readonly #folder: string = mkdtempSync(join(tmpdir(), "headgate-faults-"));
  readonly #modules = new Map<string, string>();
  #made = 0;

  constructor() {
    symlinkSync(join(packageFolder, "node_modules"), join(this.#folder, "node_modules"));
    writeFileSync(join(this.#folder, "package.json"), '{ "type": "module" }');
    for (const file of readdirSync(sourceFolder, { recursive: true, encoding: "utf8" })) {
      if (file.endsWith(".ts")) this.#modules.set(file, built(sourceOf(file)));
    }
  }

  make(patch?: Patch): Copy {
    this.#made += 1;
    const folder = join(this.#folder, String(this.#made));
    for (const [file, module] of this.#modules) {
      const path = join(folder, file.replace(/\.ts$/, ".js"));
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, file === patch?.file ? built(patched(patch)) : module);
    }
    // As Node.js loads them: a test runner would serve its own transformed and cached modules.
    const { memoryStore } = load(join(folder, "store/memory/memory-store.js"));
    return { memoryStore, laws: load(join(folder, "testing/laws/index.js")) };
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }
}

function sourceOf(file: string): string {
  return readFileSync(join(sourceFolder, file), "utf8");
}

function built(source: string): string {
  return transformSync(source, { loader: "ts", format: "esm", target: "es2022" }).code;
}

function patched({ file, text, instead }: Patch): string {
  const parts = sourceOf(file).split(text);
  if (parts.length !== 2)
    throw new Error(`${file} must hold this once, found ${parts.length - 1} times: ${text}`);
  return parts.join(instead);
}
