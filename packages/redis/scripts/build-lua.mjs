// Joins lua/ into one script and writes it, with its SHA-1, to src/scripts.generated.ts. With --check it
// only says whether that file is up to date.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

/** In the order of the script: what a part uses stands above it. */
const parts = [
  "shared/numbers.lua",
  "shared/time.lua",
  "shared/state.lua",
  "shared/owed.lua",
  "shared/stamp-log.lua",
  "algorithms/fixed-window.lua",
  "algorithms/sliding-window.lua",
  "algorithms/sliding-window-counter.lua",
  "algorithms/token-bucket.lua",
  "algorithms/leaky-bucket.lua",
  "policies.lua",
  "migration.lua",
  "bans.lua",
  "decide.lua",
  "main.lua",
];

export const generatedFile = fileURLToPath(new URL("../src/scripts.generated.ts", import.meta.url));

/** The script as it is sent: the parts without comment lines and indentation. */
export function joinedScript(
  read = (part) => readFileSync(new URL(`../lua/${part}`, import.meta.url), "utf8"),
) {
  const lines = parts.flatMap((part) => read(part).split("\n"));
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("--"))
    .join("\n");
}

/** The TypeScript module that holds the script. */
export function generatedModule(script = joinedScript()) {
  const sha = createHash("sha1").update(script).digest("hex");
  const escaped = script.replaceAll(/[\\`]|\$(?=\{)/g, "\\$&");
  return `// Built from lua/ by scripts/build-lua.mjs; not to be edited.

/** The SHA-1 of the script, by which EVALSHA names it. */
export const scriptSha: string = "${sha}";

/** The one script of the store. */
export const script: string = \`${escaped}\`;
`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const built = generatedModule();
  if (!process.argv.includes("--check")) writeFileSync(generatedFile, built);
  else if (readFileSync(generatedFile, "utf8") !== built) {
    console.error(
      "src/scripts.generated.ts is stale: run `node packages/redis/scripts/build-lua.mjs`",
    );
    process.exitCode = 1;
  }
}
