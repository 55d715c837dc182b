// Installs a program that npm does not bring, where that can be done without asking.
import { spawnSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { run } from "./workspace.mjs";

/** While this file says 101, Debian's packages start no service that they bring. */
const servicePolicy = "/usr/sbin/policy-rc.d";

/** Installs by root on Debian and Ubuntu, and with Homebrew on macOS; does nothing elsewhere. */
export async function installSystemPackage({ debian, homebrew }) {
  if (process.platform === "darwin" && runs("brew")) await run("brew", ["install", ...homebrew]);
  else if (process.getuid?.() === 0 && runs("apt-get")) await installFromDebian(debian);
}

/** Whether a command can be started. */
export function runs(command) {
  return spawnSync(command, ["--version"], { stdio: "ignore" }).status === 0;
}

async function installFromDebian(name) {
  const forbids = !existsSync(servicePolicy);
  if (forbids) writeFileSync(servicePolicy, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const options = { env, stdio: ["ignore", "inherit", "inherit"] };
    await run("apt-get", ["update", "-q"], options);
    await run("apt-get", ["install", "-yq", "--no-install-recommends", name], options);
  } finally {
    if (forbids) rmSync(servicePolicy);
  }
}
