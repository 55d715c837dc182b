import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { barsPicture } from "./bars.mjs";
import { curvesPicture } from "./curves.mjs";
import { sizingLines } from "./sizing.mjs";
import { conditionLines, measurementLines, targetLines } from "./tables.mjs";

/** The parts of `performance.md` that are written by `node bench`, by their names in its markers. */
const blocks = {
  conditions: conditionLines,
  targets: targetLines,
  sizing: sizingLines,
  tables: (results) => results.measurements.flatMap((one) => measurementLines(one)),
};

/** Writes both pictures into a folder, and the blocks of its `performance.md`. */
export function writeDocuments(folder, results) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "performance.svg"), barsPicture(results));
  writeFileSync(join(folder, "growth.svg"), curvesPicture(results));
  const file = join(folder, "performance.md");
  const text = existsSync(file) ? readFileSync(file, "utf8") : emptyDocument();
  writeFileSync(file, withBlocks(text, results));
}

/** A document with its marked blocks written anew. */
export function withBlocks(text, results) {
  return Object.entries(blocks).reduce((document, [name, linesOf]) => {
    const [start, end] = markersOf(name);
    const [from, to] = [document.indexOf(start), document.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`performance.md: there is no block "${name}"`);
    const content = linesOf(results).join("\n").trim();
    return `${document.slice(0, from + start.length)}\n${content}\n${document.slice(to)}`;
  }, text);
}

function markersOf(name) {
  return [`<!-- bench ${name} -->`, `<!-- /bench ${name} -->`];
}

function emptyDocument() {
  return Object.keys(blocks)
    .map((name) => `${markersOf(name).join("\n")}\n`)
    .join("\n");
}
