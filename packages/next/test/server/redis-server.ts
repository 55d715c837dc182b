import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** A Redis server of the test's own. */
export interface RedisServer {
  readonly url: string;
  stop(): Promise<void>;
}

const longestStartMs = 10_000;

/** Starts `REDIS_SERVER_BIN`, or redis-server on the path, on a free port; it persists nothing. */
export async function startRedis(): Promise<RedisServer> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "headgate-next-redis-"));
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder];
  const child = spawn(process.env.REDIS_SERVER_BIN ?? "redis-server", args, { stdio: "ignore" });
  const exited = once(child, "exit");
  const giveUpAt = Date.now() + longestStartMs;
  while (!(await answers(port))) {
    if (Date.now() > giveUpAt || child.exitCode !== null)
      throw new Error("redis-server did not start");
    await pause(20);
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    stop: async () => {
      child.kill("SIGKILL");
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || address === null) throw new Error("no port is free");
  return address.port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: "127.0.0.1" });
    const settle = (answer: boolean) => (): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", settle(true)).once("error", settle(false));
  });
}
