// Makes sure that the tests find a Redis server to start: `REDIS_SERVER_BIN`, or redis-server on the path,
// which is installed where that can be done without asking. No server is left running.
import { spawnSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { run } from "./workspace.mjs";

const binary = process.env.REDIS_SERVER_BIN ?? "redis-server";

/** While this file says 101, Debian's packages start no service that they bring. */
const servicePolicy = "/usr/sbin/policy-rc.d";

/** Installs a server where there is none; ends the process with a line that says how if it cannot. */
export async function ensureRedis() {
  if (runs(binary)) return;
  if (process.env.REDIS_SERVER_BIN === undefined) await install();
  if (runs(binary)) return;
  console.error(
    `headgate: the tests need redis-server 7 and cannot run "${binary}": install it (Debian and Ubuntu: apt-get install redis-server; macOS: brew install redis) or set REDIS_SERVER_BIN to its path`,
  );
  process.exit(1);
}

async function install() {
  if (process.platform === "darwin" && runs("brew")) await run("brew", ["install", "redis"]);
  else if (process.getuid?.() === 0 && runs("apt-get")) await installFromDebian();
}

async function installFromDebian() {
  const forbids = !existsSync(servicePolicy);
  if (forbids) writeFileSync(servicePolicy, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const options = { env, stdio: ["ignore", "inherit", "inherit"] };
    await run("apt-get", ["update", "-q"], options);
    await run("apt-get", ["install", "-yq", "redis-server"], options);
  } finally {
    if (forbids) rmSync(servicePolicy);
  }
}

function runs(command) {
  return spawnSync(command, ["--version"], { stdio: "ignore" }).status === 0;
}
