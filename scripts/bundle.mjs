// Joins each package's built modules into one file per public entry, with what entries share in
// chunks of its own: a cold import pays per file. Dependencies stay imports. Types stay as built.
import { existsSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { entriesOf, root, workspaceFolders } from "./workspace.mjs";

/** Writes the bundles of every package; an entry that has no code yet is named and left out. */
export async function bundlePackages() {
  for (const folder of workspaceFolders().filter((name) => name.startsWith("packages/"))) {
    await bundlePackage(folder);
  }
}

async function bundlePackage(folder) {
  const entries = entriesOf(folder);
  for (const { specifier, built } of entries) {
    if (!existsSync(built)) console.warn(`${specifier} is not built yet`);
  }
  const entryPoints = entries
    .filter(({ built }) => existsSync(built))
    .map(({ built, file }) => ({ in: built, out: basename(file, ".js") }));
  const outdir = join(root, folder, "dist/bundle");
  for (const { file } of entries) {
    if (dirname(file) !== outdir) throw new Error(`${file} must be in ${outdir}`);
  }
  rmSync(outdir, { recursive: true, force: true });
  await build({
    entryPoints,
    outdir,
    bundle: true,
    splitting: true,
    packages: "external",
    format: "esm",
    platform: "neutral",
    target: "es2022",
    chunkNames: "shared-[hash]",
    sourcemap: true,
    logLevel: "warning",
  });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await bundlePackages();
