// Makes a clone ready: the pinned pnpm installs the frozen lockfile, then the packages are built.
// Whatever is already done is skipped. Needs Node.js and npm alone.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { manifestOf, root, run, tool, workspaceFolders } from "./workspace.mjs";

const stampFile = join(root, "node_modules", ".headgate-stamp");

/** Installs and builds what is missing; ends the process with a readable line if it cannot. */
export async function prepareWorkspace() {
  requireNode(manifestOf(".").engines.node);
  await install();
  await step("building the packages", tool("tsc"), ["-b"]);
  await step("bundling the packages", process.execPath, [join(root, "scripts/bundle.mjs")]);
}

function requireNode(range) {
  const wanted = range.replace(">=", "").split(".").map(Number);
  const found = process.versions.node.split(".").map(Number);
  const newEnough = found[0] > wanted[0] || (found[0] === wanted[0] && found[1] >= wanted[1]);
  if (newEnough) return;
  console.error(`headgate needs Node.js ${range}, this is ${process.versions.node}`);
  process.exit(1);
}

async function install() {
  const stamp = stampOf(["pnpm-lock.yaml", "pnpm-workspace.yaml", ...manifests()]);
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return;
  const pnpm = manifestOf(".").packageManager.split("+")[0];
  await step(`installing with ${pnpm}`, "npx", ["--yes", pnpm, "install", "--frozen-lockfile"]);
  writeFileSync(stampFile, stamp);
}

function manifests() {
  return ["package.json", ...workspaceFolders().map((folder) => `${folder}/package.json`)];
}

function stampOf(files) {
  const hash = createHash("sha256").update(process.version);
  for (const file of files) {
    const content = readFileSync(join(root, file));
    hash.update(`\n${file} ${content.length}\n`).update(content);
  }
  return hash.digest("hex");
}

async function step(title, command, args) {
  const code = await run(command, args, { stdio: ["ignore", "inherit", "inherit"] });
  if (code === 0) return;
  console.error(`headgate: ${title} failed with exit code ${code}`);
  process.exit(code);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await prepareWorkspace();
