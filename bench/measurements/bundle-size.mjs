import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { rowsOf } from "../harness/contest.mjs";

const folder = fileURLToPath(new URL("..", import.meta.url));

const cases = [
  {
    name: "a limiter in memory",
    contestants: [
      { name: "headgate: core", imports: ["@headgate/core"], ours: true },
      {
        name: "rate-limiter-flexible",
        imports: ["rate-limiter-flexible"],
        note: "all stores: it cannot be shaken",
      },
    ],
  },
  {
    name: "an Express middleware",
    contestants: [
      {
        name: "headgate: core, express",
        imports: ["@headgate/core", "@headgate/express"],
        ours: true,
      },
      { name: "express-rate-limit", imports: ["express-rate-limit"] },
    ],
  },
];

export const bundleSize = {
  name: "bundle-size",
  title: "Size of a bundle",
  about:
    "Everything that the entry exports, its dependencies included, minified by esbuild and gzipped.",
  unit: "bytes",
  better: "lower",
  async run() {
    const measured = [];
    for (const { name, contestants } of cases) {
      const rows = [];
      for (const contestant of contestants)
        rows.push({ ...contestant, values: [await sizeOf(contestant.imports)] });
      measured.push({ name, rows: rowsOf(rows) });
    }
    return measured;
  },
};

async function sizeOf(imports) {
  const lines = imports.map((specifier) => `export * from ${JSON.stringify(specifier)};`);
  const { outputFiles } = await build({
    stdin: { contents: lines.join("\n"), resolveDir: folder },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "node",
    external: ["express", "ioredis"],
    write: false,
    logLevel: "error",
  });
  return gzipSync(outputFiles[0].contents, { level: 9 }).length;
}
