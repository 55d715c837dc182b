// Joins lua/ into one script and writes it, with its SHA-1, to src/scripts.generated.ts. With --check it
// only says whether that file is up to date.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Made for every call, in this order: what a part uses stands above it, but for parts that are needed by name. */
const parts = [
  "shared/numbers.lua",
  "shared/time.lua",
  "shared/call.lua",
  "shared/parts.lua",
  "shared/state.lua",
  "terms.lua",
];

/** The straight ways, by the tags of their algorithms; one is made when a run is of it. */
const takes = [
  ["f", "takes/fixed-window.lua"],
  ["c", "takes/sliding-window-counter.lua"],
  ["t", "takes/token-bucket.lua"],
];

/** Made for every call too, and uses the straight ways. */
const runs = "run.lua";

/** What all parts that are needed by name may use. */
const beforeNeeded = ["shared/keys.lua", "policies.lua"];

/** Those are made when something needs them by their name. */
const neededParts = [
  "shared/failure.lua",
  "shared/owed.lua",
  "shared/stamp-log.lua",
  "commits/batch.lua",
  "commits/several.lua",
  "commits/log.lua",
  "algorithms/fixed-window.lua",
  "algorithms/sliding-window.lua",
  "algorithms/sliding-window-counter.lua",
  "algorithms/token-bucket.lua",
  "algorithms/leaky-bucket.lua",
];

/** What "batches" is made of, which simple calls do without; the parts within it are needed by name as well. */
const batches = {
  before: "decide.lua",
  neededParts: ["migration.lua", "bans.lua", "changes.lua"],
  entry: "batches.lua",
};

const entry = "main.lua";

export const generatedFile = fileURLToPath(new URL("../src/scripts.generated.ts", import.meta.url));

/** The script as it is sent: the parts without comment lines and indentation. */
export function joinedScript(
  read = (part) => readFileSync(new URL(`../lua/${part}`, import.meta.url), "utf8"),
) {
  const needed = (name, text) => `parts["${name}"] = function()\n${text}end\n`;
  const neededPart = (part) => needed(nameOf(part), read(part));
  const take = ([tag, part]) => `if tag == "${tag}" then\n${read(part)}end\n`;
  const batchesText = [
    read(batches.before),
    ...batches.neededParts.map(neededPart),
    read(batches.entry),
  ].join("");
  return [
    ...parts.map((part) => read(part)),
    "local function take_of(tag)\n",
    ...takes.map(take),
    "end\n",
    read(runs),
    "function make_parts()\nparts = {}\n",
    ...beforeNeeded.map((part) => read(part)),
    ...neededParts.map(neededPart),
    needed("batches", batchesText),
    "return parts\nend\n",
    read(entry),
  ]
    .join("")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("--"))
    .join("\n");
}

function nameOf(part) {
  const name = basename(part, ".lua");
  return part.startsWith("commits/") ? `commit-${name}` : name;
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
