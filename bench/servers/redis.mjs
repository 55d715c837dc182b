import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const binary = process.env.REDIS_SERVER_BIN ?? "redis-server";
const running = new Set();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Starts a server on a free port that persists nothing, and waits until it answers. */
export async function startRedis(args = []) {
  const folder = mkdtempSync(join(tmpdir(), "headgate-bench-"));
  const port = await freePort();
  const fixed = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder];
  const child = spawn(binary, [...fixed, "--appendonly", "no", ...args], { stdio: "ignore" });
  running.add(child);
  let ended;
  child.once("error", ({ message }) => {
    ended = `cannot start ${binary}: ${message}`;
  });
  child.once("exit", (code) => {
    running.delete(child);
    ended ??= `${binary} ended with code ${code}`;
  });
  const stop = async () => {
    if (running.has(child) && child.pid !== undefined) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    rmSync(folder, { recursive: true, force: true });
  };
  while (!(await answers(port))) {
    if (ended !== undefined) throw new Error(ended);
    await pause(10);
  }
  return { ports: [port], process: child, stop };
}

const handedOut = new Set();

/** A port that nothing listens on, below those that outgoing connections are given. */
export async function freePort() {
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

function answers(port) {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: "127.0.0.1" });
    const end = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", () => socket.write("PING\r\n"));
    socket.once("data", (data) => end(data.toString().startsWith("+PONG")));
    socket.once("error", () => end(false));
  });
}
