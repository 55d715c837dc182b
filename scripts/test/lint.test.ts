import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root, tool } from "../workspace.mjs";

const asynchronous =
  'export async function save(): Promise<void> {\n  await fetch("http://a.test");\n}\n';

/** One file each, and the rule that must refuse it. */
const refused: readonly (readonly [rule: string, file: string, content: string])[] = [
  [
    "lint/nursery/noFloatingPromises",
    "packages/core/src/floating.ts",
    'import { save } from "./save.js";\n\nexport function run(): void {\n  save();\n}\n',
  ],
  [
    "lint/nursery/noMisusedPromises",
    "packages/core/src/misused.ts",
    'import { save } from "./save.js";\n\nexport function run(): boolean {\n  if (save()) return true;\n  return false;\n}\n',
  ],
  ["lint/style/noDefaultExport", "packages/core/src/default.ts", "export default 1;\n"],
  ["lint/suspicious/noExplicitAny", "packages/core/src/any.ts", "export type Any = any;\n"],
  [
    "lint/correctness/noUnusedImports",
    "packages/core/src/unused.ts",
    'import { save } from "./save.js";\n\nexport const one = 1;\n',
  ],
];

describe("the linter", () => {
  const folder = mkdtempSync(join(tmpdir(), "headgate-lint-"));
  let reported: readonly string[] = [];

  beforeAll(() => {
    const { vcs: _, ...config } = JSON.parse(readFileSync(join(root, "biome.json"), "utf8"));
    write(folder, "biome.json", JSON.stringify(config));
    write(folder, "packages/core/src/save.ts", asynchronous);
    for (const [, file, content] of refused) write(folder, file, content);
    reported = errorsIn(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(refused)("%s refuses %s", (rule, file) => {
    expect(reported).toContain(`${rule}: ${file}`);
  });

  it("has nothing against an awaited promise", () => {
    expect(reported.filter((line) => line.endsWith("save.ts"))).toEqual([]);
  });
});

function write(folder: string, file: string, content: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), content);
}

interface Diagnostic {
  readonly category: string;
  readonly severity: string;
  readonly location: { readonly path: string | { readonly file: string } };
}

function errorsIn(folder: string): readonly string[] {
  const { stdout } = spawnSync(tool("biome"), ["lint", "--reporter=json", "."], {
    cwd: folder,
    encoding: "utf8",
  });
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: readonly Diagnostic[] };
  return diagnostics
    .filter(({ severity }) => severity === "error")
    .map(({ category, location: { path } }) => {
      return `${category}: ${typeof path === "string" ? path : path.file}`;
    });
}
