import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";

/** A log of the examples. */
export function traffic(name: string): string {
  return fileURLToPath(new URL(`../../../examples/traffic/${name}`, import.meta.url));
}

/** A folder for the files of one test file, which is removed after its tests. */
export class Folder {
  readonly path: string = mkdtempSync(join(tmpdir(), "headgate-cli-"));
  #files = 0;

  constructor() {
    afterAll(() => rmSync(this.path, { recursive: true }));
  }

  /** Writes a file and gives its path. */
  file(content: string | Buffer, extension = "log"): string {
    this.#files += 1;
    const path = join(this.path, `${this.#files}.${extension}`);
    writeFileSync(path, content);
    return path;
  }

  /** Writes a policy file. */
  policies(policies: Readonly<Record<string, unknown>>): string {
    return this.file(JSON.stringify({ policies }), "json");
  }
}
