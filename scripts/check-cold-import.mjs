// Measures a first import in a fresh process, ten times each, and fails when the median of
// @headgate/core passes its limit.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { entriesOf, publishedFolders, root } from "./workspace.mjs";

const limitsMs = new Map([["@headgate/core", 8]]);
const runs = 10;

let failed = false;
for (const folder of publishedFolders()) {
  for (const { specifier } of entriesOf(folder)) {
    const medianMs = medianOf(Array.from({ length: runs }, () => importMs(folder, specifier)));
    const limitMs = limitsMs.get(specifier) ?? Number.POSITIVE_INFINITY;
    const allowed = Number.isFinite(limitMs) ? `  (at most ${limitMs} ms)` : "";
    console.log(`${specifier.padEnd(28)} ${medianMs.toFixed(1).padStart(6)} ms${allowed}`);
    if (medianMs > limitMs) failed = true;
  }
}
if (failed) console.error("a cold import takes longer than its limit");
process.exitCode = failed ? 1 : 0;

function importMs(folder, specifier) {
  const code = `
    const startMs = performance.now();
    await import(${JSON.stringify(specifier)});
    process.stdout.write(String(performance.now() - startMs));`;
  const args = ["--input-type=module", "--eval", code];
  const child = spawnSync(process.execPath, args, { cwd: join(root, folder), encoding: "utf8" });
  if (child.status !== 0) throw new Error(`${specifier} cannot be imported:\n${child.stderr}`);
  return Number(child.stdout);
}

function medianOf(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[sorted.length / 2 - 1] + sorted[sorted.length / 2]) / 2;
}
