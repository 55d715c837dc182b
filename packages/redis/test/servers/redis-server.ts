import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** A redis-server process of the test's own. */
export interface RedisServer {
  readonly port: number;
  readonly process: ChildProcess;
  /** Ends the process at once, as a crash would, and removes its folder. */
  stop(): Promise<void>;
}

/** The binary that tests start: `REDIS_SERVER_BIN`, or the one on the path. */
const redisServerBinary: string = process.env.REDIS_SERVER_BIN ?? "redis-server";

const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/**
 * Starts a server on a free port (or a given one) that persists nothing, and waits until it answers.
 *
 * @param args - further arguments of its command line, such as `["--maxmemory", "2mb"]`
 * @throws Error in one line when the binary is missing or ends at once
 */
export async function startRedisServer(
  args: readonly string[] = [],
  port?: number,
): Promise<RedisServer> {
  const folder = makeFolder();
  const chosen = port ?? (await freePort());
  const fixed = ["--port", String(chosen), "--save", "", "--appendonly", "no", "--dir", folder];
  return launch([...fixed, "--bind", "127.0.0.1", ...args], { port: chosen, folder });
}

/** A folder for a server's files, which its `stop` removes. */
export function makeFolder(): string {
  return mkdtempSync(join(tmpdir(), "headgate-redis-"));
}

/** Starts the binary and waits until it answers on its port. */
export async function launch(
  args: readonly string[],
  { port, folder }: { readonly port: number; readonly folder: string },
): Promise<RedisServer> {
  const child = spawn(redisServerBinary, args, { stdio: "ignore" });
  running.add(child);
  let ended: string | undefined;
  child.once("error", ({ message }) => {
    ended = `cannot start ${redisServerBinary} (${message}): install redis-server, or set REDIS_SERVER_BIN`;
  });
  child.once("exit", (code) => {
    running.delete(child);
    ended ??= `${redisServerBinary} ended with code ${code}`;
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    while (!(await answers(port))) {
      if (ended !== undefined) throw new Error(ended);
      await pause(10);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, process: child, stop };
}

const handedOut = new Set<number>();

/** A port that nothing listens on, below those from which the system takes the ports of outgoing connections. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 22_000);
    if (handedOut.has(port)) continue;
    const probe = createServer().listen(port, "127.0.0.1");
    const isFree = await once(probe, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    handedOut.add(port);
    probe.close();
    await once(probe, "close");
    return port;
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: "127.0.0.1" });
    const end = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", () => socket.write("PING\r\n"));
    socket.once("data", (data) => end(data.toString().startsWith("+PONG")));
    socket.once("error", () => end(false));
  });
}
