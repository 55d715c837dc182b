// `pnpm bench`: measures Headgate beside other limiters and the least code that could do it, and writes what it
// finds. `node bench --help` tells the options.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureRedis } from "../scripts/ensure-redis.mjs";
import { measurements } from "./measurements/all.mjs";
import { readOptions } from "./options.mjs";
import { writeDocuments } from "./report/documents.mjs";
import { emptyResults, readResults, writeResults } from "./report/results.mjs";
import { measurementLines, targetLines } from "./report/tables.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const kept = { results: join(here, "results/latest.json"), documents: join(here, "../docs") };

const { usage, list, render, only, again, output, preset, options } = readOptions(
  process.argv.slice(2),
);
if (usage !== undefined) console.log(usage);
else if (list) for (const { name, title } of measurements) console.log(name.padEnd(16), title);
else if (render) writeDocuments(kept.documents, readResults(kept.results));
else await measure();

async function measure() {
  const chosen = only === undefined ? measurements : only.map(named);
  await ensureRedis();
  // Only a whole run in earnest takes the place of the kept one, or a whole section of it: ratios hold within one.
  const isKept = again || (only === undefined && preset === "full");
  const folder = output ?? (isKept ? undefined : join(here, "results/partial"));
  const file = folder === undefined ? kept.results : join(folder, "latest.json");
  const results = again ? readResults(file) : emptyResults(preset);
  const before = results.measurements;
  const made = [];
  const left = chosen.entries();
  const work = async () => {
    for (const [place, { run, ...measurement }] of left) {
      made[place] = { ...measurement, cases: await run(options) };
      // What is there so far is kept, should a later one fail.
      const there = made.filter((one) => one !== undefined);
      const madeAgain = ({ name }) => there.find((one) => one.name === name);
      results.measurements = again ? before.map((one) => madeAgain(one) ?? one) : there;
      writeResults(file, results);
      console.log(measurementLines(made[place]).join("\n"));
    }
  };
  await Promise.all(Array.from({ length: options.atOnce }, work));
  console.log(targetLines(results).join("\n"));
  writeDocuments(folder ?? kept.documents, results);
}

function named(name) {
  const found = measurements.find((measurement) => measurement.name === name);
  if (found !== undefined) return found;
  const names = measurements.map((measurement) => measurement.name).join(", ");
  throw new Error(`bench: there is no measurement "${name}", but ${names}`);
}
