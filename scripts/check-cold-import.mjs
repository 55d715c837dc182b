// Measures a first import in a fresh process, from a folder that has the packages installed, ten
// times each, and fails when the median of @headgate/core passes its limit in each of three tries.
// An empty module is measured beside it: where even that takes long, the machine is busy with
// something else, and the limit grows in proportion.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { entriesOf, manifestOf, publishedFolders, root } from "./workspace.mjs";

const limitsMs = new Map([["@headgate/core", 8]]);
/** What the import of an empty module takes on a machine that is not busy. */
const emptyMs = 3;
const runs = 10;
/** A machine that is busy with something else only ever makes an import slower. */
const tries = 3;
const measure = `
const startMs = performance.now();
await import(process.argv[2]);
const tookMs = performance.now() - startMs;
process.stdout.write(String(tookMs));
`;

const application = mkdtempSync(join(tmpdir(), "headgate-cold-import-"));
writeFileSync(join(application, "measure.mjs"), measure);
writeFileSync(join(application, "empty.mjs"), "export {};\n");
for (const folder of publishedFolders()) {
  const link = join(application, "node_modules", manifestOf(folder).name);
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(join(root, folder), link);
}

let failed = false;
for (const { specifier } of publishedFolders().flatMap(entriesOf)) {
  const limitMs = limitsMs.get(specifier) ?? Number.POSITIVE_INFINITY;
  let medianMs;
  let held = false;
  for (let tried = 0; tried < tries && !held; tried += 1) {
    const times = Array.from({ length: runs }, () => [
      importMs(specifier),
      importMs("./empty.mjs"),
    ]);
    medianMs = medianOf(times.map(([packageMs]) => packageMs));
    const slowness = Math.max(1, medianOf(times.map(([, floorMs]) => floorMs)) / emptyMs);
    held = medianMs <= limitMs * slowness;
  }
  const allowed = Number.isFinite(limitMs) ? `  (at most ${limitMs} ms)` : "";
  console.log(`${specifier.padEnd(28)} ${medianMs.toFixed(1).padStart(6)} ms${allowed}`);
  if (!held) failed = true;
}
rmSync(application, { recursive: true });
if (failed) console.error("a cold import takes longer than its limit");
process.exitCode = failed ? 1 : 0;

function importMs(specifier) {
  const args = ["measure.mjs", specifier];
  const child = spawnSync(process.execPath, args, { cwd: application, encoding: "utf8" });
  if (child.status !== 0) throw new Error(`${specifier} cannot be imported:\n${child.stderr}`);
  return Number(child.stdout);
}

function medianOf(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[sorted.length / 2 - 1] + sorted[sorted.length / 2]) / 2;
}
