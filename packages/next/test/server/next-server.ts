import { type ChildProcess, spawn } from "node:child_process";
import { request as httpRequest } from "node:http";
import type { BuiltApp } from "./app-build.js";

/** A response as it came over the wire. */
export interface Received {
  readonly status: number;
  /** Names in lower case; several lines of one field joined by comma and space. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly cookies: readonly string[];
  readonly body: string;
}

export interface SendOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The client's address, which the trusted proxy in front would append. */
  readonly from?: string;
  readonly body?: string;
}

/** A running `next start`. */
export interface NextServer {
  readonly url: string;
  /** What it has printed so far. */
  output(): string;
  /** Sends one request, its path exactly as given. */
  send(path: string, options?: SendOptions): Promise<Received>;
  stop(): Promise<void>;
}

const longestStartMs = 30_000;

/** Starts an application that has been built, on a free port of the loopback interface. */
export async function startServer(
  app: BuiltApp,
  environment: Readonly<Record<string, string>> = {},
): Promise<NextServer> {
  const child = spawn(process.execPath, [app.next, "start", "-H", "localhost", "-p", "0"], {
    cwd: app.folder,
    env: {
      ...process.env,
      ...environment,
      NEXT_TELEMETRY_DISABLED: "1",
      NODE_ENV: "production",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const url = await announced(child, () => output);
  return {
    url,
    output: () => output,
    send: (path, options) => send(new URL(url), path, options),
    stop: () => stopped(child),
  };
}

function announced(child: ChildProcess, output: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (): void => reject(new Error(`next start did not come up\n${output()}`));
    const timer = setTimeout(fail, longestStartMs);
    child.once("exit", fail);
    const look = (): void => {
      const port = /http:\/\/localhost:(\d+)/.exec(output())?.[1];
      if (port === undefined || !/Ready in/.test(output())) return;
      clearTimeout(timer);
      child.off("exit", fail);
      resolve(`http://localhost:${port}`);
    };
    child.stdout?.on("data", look);
  });
}

function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });
}

function send(
  { hostname, port }: URL,
  path: string,
  { method = "GET", headers = {}, from, body }: SendOptions = {},
): Promise<Received> {
  const sent = { ...headers, ...(from !== undefined && { "x-forwarded-for": from }) };
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { hostname, port, path, method, headers: sent, agent: false },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        response.once("error", reject);
        response.once("end", () => {
          const received = Object.entries(response.headers).map(([name, value]) => [
            name,
            Array.isArray(value) ? value.join(", ") : value,
          ]);
          resolve({
            status: response.statusCode ?? 0,
            headers: Object.fromEntries(received),
            cookies: response.headers["set-cookie"] ?? [],
            body: text,
          });
        });
      },
    );
    request.once("error", reject);
    request.end(body);
  });
}
