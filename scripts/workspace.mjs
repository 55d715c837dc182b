// What the other scripts share: where the workspace is, what is in it, and how to run a tool of it.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** The manifest of a folder, given relative to the root. */
export function manifestOf(folder) {
  return JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
}

/** Every workspace folder that has a manifest, relative to the root. */
export function workspaceFolders() {
  const nested = ["packages", "examples"].flatMap((parent) =>
    readdirSync(join(root, parent)).map((name) => `${parent}/${name}`),
  );
  return [...nested, "bench"].filter((folder) => existsSync(join(root, folder, "package.json")));
}

/** The folders of the packages that are published. */
export function publishedFolders() {
  return workspaceFolders().filter((folder) => manifestOf(folder).private !== true);
}

/**
 * The public entries of a package that are code: the specifier, the file that it loads, and the
 * module that the compiler builds for it.
 */
export function entriesOf(folder) {
  const { name, exports } = manifestOf(folder);
  return Object.entries(exports)
    .filter(([, target]) => typeof target === "object")
    .map(([subpath, target]) => ({
      specifier: name + subpath.slice(1),
      file: join(root, folder, target.default),
      built: join(root, folder, target.types.replace(/\.d\.ts$/, ".js")),
    }));
}

/** The path of a command that the root manifest depends on. */
export function tool(name) {
  return join(root, "node_modules", ".bin", name);
}

/** Runs a command with this process's output; signals pass on. Resolves to its exit code. */
export function run(command, args = [], options = {}) {
  const child = spawn(command, args, { cwd: root, stdio: "inherit", ...options });
  const forward = (signal) => child.kill(signal);
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, forward);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      for (const name of signals) process.off(name, forward);
      resolve(code ?? (signal === "SIGINT" ? 130 : 1));
    });
  });
}
