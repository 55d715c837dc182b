// `npm run test:laws [-- HISTORIES]`: tries each law on a million random histories, or as many as asked
// for, instead of the thousand of `npm test`. A million takes hours; a failure prints its seed.
import { join } from "node:path";
import { root, run } from "./workspace.mjs";

const histories = Number(process.argv[2] ?? 1_000_000);
if (!(Number.isSafeInteger(histories) && histories >= 1)) {
  console.error(`test:laws: histories must be a positive integer, got ${process.argv[2]}`);
  process.exit(1);
}
process.exitCode = await run(
  process.execPath,
  [join(root, "scripts/test.mjs"), "--project=core", "packages/core/test/laws"],
  { env: { ...process.env, HEADGATE_HISTORIES: String(histories) } },
);
