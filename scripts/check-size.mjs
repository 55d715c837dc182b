// Prints what each public entry weighs in a browser or Edge bundle, minified and gzipped, and fails
// when one passes its limit. Peer dependencies stay outside; dependencies are counted.
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { entriesOf, manifestOf, publishedFolders } from "./workspace.mjs";

const limits = new Map([["@headgate/core", 10 * 1024]]);

let failed = false;
for (const folder of publishedFolders()) {
  const external = Object.keys(manifestOf(folder).peerDependencies ?? {});
  for (const { specifier, file } of entriesOf(folder)) {
    const size = await bundledSize(file, external);
    const limit = limits.get(specifier) ?? Number.POSITIVE_INFINITY;
    const allowed = Number.isFinite(limit) ? `  (at most ${kilobytes(limit)})` : "";
    console.log(`${specifier.padEnd(28)} ${kilobytes(size)}${allowed}`);
    if (size <= limit) continue;
    console.error(`${specifier} is ${size - limit} bytes over its limit`);
    failed = true;
  }
}
process.exitCode = failed ? 1 : 0;

async function bundledSize(file, external) {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["import"],
    external: [...external, "node:*"],
    write: false,
    logLevel: "error",
  });
  return gzipSync(outputFiles[0].contents, { level: 9 }).length;
}

function kilobytes(bytes) {
  return `${(bytes / 1024).toFixed(2)} KB`.padStart(9);
}
