import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { dirname } from "node:path";

const bench = new URL("..", import.meta.url);

/** Results without measurements: what they will have been made with. */
export function emptyResults(preset) {
  return { preset, machine: machine(), versions: versions(), measurements: [] };
}

export function writeResults(file, results) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(results, undefined, 1)}\n`);
}

export function readResults(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

function machine() {
  const processors = cpus();
  return {
    cores: processors.length,
    processor: processors[0]?.model.trim() ?? "unknown",
    memoryGb: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform} ${process.arch}`,
    node: process.versions.node,
    redis: redisVersion(),
  };
}

function redisVersion() {
  const binary = process.env.REDIS_SERVER_BIN ?? "redis-server";
  return /v=([\d.]+)/.exec(execFileSync(binary, ["--version"], { encoding: "utf8" }))?.[1];
}

/** Of everything that takes part, as it is installed. */
function versions() {
  const { dependencies } = manifestAt("package.json");
  return Object.fromEntries(
    Object.keys(dependencies)
      .filter((name) => name !== "esbuild")
      .map((name) => [name, manifestAt(`node_modules/${name}/package.json`).version]),
  );
}

function manifestAt(path) {
  return JSON.parse(readFileSync(new URL(path, bench), "utf8"));
}
