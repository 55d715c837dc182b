// Makes sure that the tests find a Redis server to start: `REDIS_SERVER_BIN`, or redis-server on the path,
// which is installed where that can be done without asking. No server is left running.
import { installSystemPackage, runs } from "./system-package.mjs";

const binary = process.env.REDIS_SERVER_BIN ?? "redis-server";

/** Installs a server where there is none; ends the process with a line that says how if it cannot. */
export async function ensureRedis() {
  if (runs(binary)) return;
  if (process.env.REDIS_SERVER_BIN === undefined)
    await installSystemPackage({ debian: "redis-server", homebrew: ["redis"] });
  if (runs(binary)) return;
  console.error(
    `headgate: the tests need redis-server 7 and cannot run "${binary}": install it (Debian and Ubuntu: apt-get install redis-server; macOS: brew install redis) or set REDIS_SERVER_BIN to its path`,
  );
  process.exit(1);
}
