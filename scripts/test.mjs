// `npm test`: makes the workspace ready, runs every test project, and ends with one plain line of counts.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { ensureChromium } from "./ensure-chromium.mjs";
import { ensureRedis } from "./ensure-redis.mjs";
import { prepareWorkspace } from "./prepare-workspace.mjs";
import { root, run, tool } from "./workspace.mjs";

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
const { passed, failed, skipped, faults } = resultsOf(report);
rmSync(folder, { recursive: true });

const allFailed = code === 0 ? failed : Math.max(failed, 1);
const counts = [`${passed} passed`, `${allFailed} failed`];
if (skipped > 0) counts.push(`${skipped} skipped`);
for (const fault of faults) console.log(`failed: ${fault}`);
console.log(counts.join(", "));
process.exitCode = allFailed === 0 && passed > 0 ? 0 : code || 1;

/** A file that cannot be loaded counts as one failure; an unfinished run leaves no report. */
function resultsOf(file) {
  let report;
  try {
    report = JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    const fault = `the test run left no readable report: ${cause.message}`;
    return { passed: 0, failed: 1, skipped: 0, faults: [fault] };
  }
  const faults = report.testResults.flatMap(faultsOf);
  return {
    passed: report.numPassedTests,
    failed: faults.length,
    skipped: report.numPendingTests + report.numTodoTests,
    faults,
  };
}

/** A line for each test of a file that failed, or one for the file. */
function faultsOf({ name, status, message, assertionResults }) {
  const file = relative(root, name);
  const faults = assertionResults
    .filter((test) => test.status === "failed")
    .map((test) => `${file}: ${test.fullName}: ${firstLine(test.failureMessages[0])}`);
  const isBroken = status === "failed" && faults.length === 0;
  return isBroken ? [`${file}: ${firstLine(message)}`] : faults;
}

function firstLine(message = "") {
  return message.split("\n", 1)[0];
}
