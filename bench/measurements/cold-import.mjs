import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { rowsOf } from "../harness/contest.mjs";

const importProcess = fileURLToPath(new URL("../harness/import-process.mjs", import.meta.url));

const cases = [
  {
    name: "a limiter in memory",
    contestants: [
      { name: "headgate: core", imports: ["@headgate/core"], ours: true },
      { name: "rate-limiter-flexible", imports: ["rate-limiter-flexible"] },
      { name: "floor: an empty module", imports: ["data:text/javascript,"] },
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
  {
    name: "a Redis store",
    contestants: [
      { name: "headgate: core, redis", imports: ["@headgate/core", "@headgate/redis"], ours: true },
      {
        name: "express-rate-limit, rate-limit-redis",
        imports: ["express-rate-limit", "rate-limit-redis"],
      },
      { name: "rate-limiter-flexible", imports: ["rate-limiter-flexible"] },
    ],
  },
];

export const coldImport = {
  name: "cold-import",
  title: "Cold import",
  about: "The import in a fresh process, without what both sides share (express, ioredis).",
  unit: "ms",
  better: "lower",
  async run({ importRuns }) {
    return cases.map(({ name, contestants }) => {
      const measured = contestants.map((contestant) => ({ ...contestant, values: [] }));
      for (let run = 0; run < importRuns; run += 1)
        for (const { imports, values } of measured) values.push(importMs(imports));
      return { name, rows: rowsOf(measured) };
    });
  },
};

function importMs(imports) {
  return Number(execFileSync(process.execPath, [importProcess, ...imports], { encoding: "utf8" }));
}
