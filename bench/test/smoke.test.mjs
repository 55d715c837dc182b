import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { measurements } from "../measurements/all.mjs";
import { withBlocks } from "../report/documents.mjs";
import { readResults } from "../report/results.mjs";
import { judged } from "../report/targets.mjs";

const bench = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "headgate-bench-test-"));
let results;

beforeAll(async () => {
  const args = [bench, "--smoke", "--output", folder];
  await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 24 });
  results = readResults(join(folder, "latest.json"));
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true }));

test("every measurement runs, and gives a number for every contestant", () => {
  expect(results.measurements.map(({ name }) => name)).toEqual(
    measurements.map(({ name }) => name),
  );
  for (const { name, cases } of results.measurements) {
    expect(cases.length, name).toBeGreaterThan(0);
    // So few samples measure noise as well, which may be below 0.
    for (const { rows } of cases)
      for (const row of rows) expect(row.median, `${name}: ${row.name}`).toSatisfy(Number.isFinite);
  }
});

test("every measurement that has a target is judged by it", () => {
  const titles = new Set(judged(results).map(({ title }) => title));
  expect([...titles]).toEqual([
    "Express middleware in process",
    "Memory for each idle key",
    "Calls to Redis for each request",
    "Memory for each key in Redis",
    "Requests while Redis does not answer",
    "Cost against the limit",
    "Cold import",
    "Size of a bundle",
  ]);
});

test("the pictures and the tables hold what was measured", () => {
  const document = readFileSync(join(folder, "performance.md"), "utf8");
  for (const { title } of results.measurements) expect(document).toContain(`### ${title}`);
  for (const name of ["performance.svg", "growth.svg"])
    expect(readFileSync(join(folder, name), "utf8")).not.toMatch(/NaN|undefined|Infinity/);
});

test("docs/performance.md tells the results that are kept", () => {
  const document = readFileSync(join(bench, "../docs/performance.md"), "utf8");
  const kept = readResults(join(bench, "results/latest.json"));
  expect(withBlocks(document, kept)).toBe(document);
});
