// Joins each package's built modules into one file per public entry, with what entries share in
// chunks of its own: a cold import pays per file. Dependencies stay imports. Types stay as built.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { entriesOf, root, workspaceFolders } from "./workspace.mjs";

const options = {
  bundle: true,
  packages: "external",
  format: "esm",
  platform: "neutral",
  target: "es2022",
  sourcemap: true,
  logLevel: "warning",
};

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
  const { metafile } = await build({
    ...options,
    entryPoints,
    outdir,
    splitting: true,
    chunkNames: "shared-[hash]",
    metafile: true,
  });
  await joinChunksOf("index", outdir, metafile.outputs);
}

/**
 * Makes one file of the chunks that an entry loads. They are split only because other entries need some of
 * them without the others; who imports those has imported the main entry as well.
 */
async function joinChunksOf(entry, outdir, outputs) {
  const written = new Map(
    Object.entries(outputs)
      .filter(([path]) => path.endsWith(".js"))
      .map(([path, output]) => [basename(path), output]),
  );
  const chunks = chunksOf(`${entry}.js`, written);
  if (chunks.size < 2) return;
  const names = [...chunks].flatMap((chunk) => written.get(chunk).exports);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two chunks of ${outdir} export ${twice}`);
  const joined = `shared-${entry}.js`;
  const contents = [...chunks].map((chunk) => `export * from "./${chunk}";\n`).join("");
  await build({
    ...options,
    stdin: { contents, resolveDir: outdir },
    outfile: join(outdir, joined),
  });
  for (const chunk of chunks) {
    rmSync(join(outdir, chunk));
    rmSync(join(outdir, `${chunk}.map`));
  }
  for (const file of written.keys())
    if (!chunks.has(file)) redirect(join(outdir, file), chunks, joined);
}

/** Makes a file import another one instead of some chunks. */
function redirect(path, chunks, joined) {
  const text = readFileSync(path, "utf8").replace(/"\.\/(shared-\w+\.js)"/g, (whole, chunk) =>
    chunks.has(chunk) ? `"./${joined}"` : whole,
  );
  writeFileSync(path, text);
}

/** The chunks that a file loads, and those that they load. */
function chunksOf(file, written, found = new Set()) {
  for (const { path } of written.get(file).imports) {
    const chunk = basename(path);
    if (!written.has(chunk) || found.has(chunk)) continue;
    found.add(chunk);
    chunksOf(chunk, written, found);
  }
  return found;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await bundlePackages();
