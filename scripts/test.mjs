// `npm test`: makes the workspace ready, runs every test project, and ends with one plain line of counts.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureChromium } from "./ensure-chromium.mjs";
import { ensureRedis } from "./ensure-redis.mjs";
import { prepareWorkspace } from "./prepare-workspace.mjs";
import { run, tool } from "./workspace.mjs";

await prepareWorkspace();
await ensureRedis();
await ensureChromium();
const folder = mkdtempSync(join(tmpdir(), "headgate-test-"));
const report = join(folder, "report.json");
const code = await run(tool("vitest"), [
  "run",
  "--config=vitest.workspace.ts",
  "--reporter=default",
  "--reporter=json",
  `--outputFile.json=${report}`,
  ...process.argv.slice(2),
]);
const { passed, failed, skipped } = countsOf(report);
rmSync(folder, { recursive: true });

const allFailed = code === 0 ? failed : Math.max(failed, 1);
const counts = [`${passed} passed`, `${allFailed} failed`];
if (skipped > 0) counts.push(`${skipped} skipped`);
console.log(counts.join(", "));
process.exitCode = allFailed === 0 && passed > 0 ? 0 : code || 1;

/** A file that cannot be loaded counts as one failure; an unfinished run leaves no report. */
function countsOf(file) {
  let report;
  try {
    report = JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    console.error(`the test run left no readable report: ${cause.message}`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const broken = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === "failed" && assertionResults.every((test) => test.status !== "failed"),
  );
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}
