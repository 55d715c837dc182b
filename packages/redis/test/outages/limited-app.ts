import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { createLimiter, type Degraded, fixedWindow, type Limiter } from "@headgate/core";
import { decisionOf, rateLimits } from "@headgate/express";
import express from "express";
import type { RedisStore } from "../../src/index.js";

export const limitOfAll = 100_000;

/** The routes, by what they do when the store fails; `three` has three local policies, `free` none at all. */
export type Route = "local" | "open" | "closed" | "three" | "free";

/** What an HTTP client saw. */
export interface Answer {
  readonly route: Route;
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly degraded: Degraded;
  readonly sentAt: number;
  readonly tookMs: number;
}

/** An Express application over HTTP whose limits are in the store. */
export interface LimitedApp {
  readonly answers: readonly Answer[];
  get(route: Route): Promise<Answer>;
  /** How many requests of a route the store holds as counted. */
  counted(route: "local" | "open" | "closed"): Promise<number>;
  close(): Promise<void>;
}

/** Starts the application on a free port. */
export async function startLimitedApp(store: RedisStore, deadlineMs: number): Promise<LimitedApp> {
  const limiter = limiterOver(store, deadlineMs);
  const limit = rateLimits({ limiter, identify: () => ({ user: "ada" }) });
  const app = express();
  app.get("/local", limit("local"));
  app.get("/open", limit("open"));
  app.get("/closed", limit("closed"));
  app.get("/three", limit("first", "second", "third"));
  app.use((incoming, response) => {
    response.set("x-degraded", decisionOf(incoming)?.degraded ?? "none").send("fine");
  });
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true });
  const answers: Answer[] = [];
  return {
    answers,
    get: async (route) => {
      const answer = await send(route, { port, agent });
      answers.push(answer);
      return answer;
    },
    counted: async (route) => {
      const { degraded, remaining } = await limiter.peek(route, { user: "ada" });
      if (degraded !== "none" || remaining === undefined) throw new Error("not from the store");
      return limitOfAll - remaining;
    },
    close: async () => {
      agent.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
      await limiter.close();
    },
  };
}

type PolicyName = "local" | "open" | "closed" | "first" | "second" | "third";

function limiterOver(store: RedisStore, deadlineMs: number): Limiter<PolicyName, RedisStore> {
  const rule = {
    limit: limitOfAll,
    window: "1h",
    anchor: "first-request",
    by: "user",
  } as const;
  const local = fixedWindow(rule);
  return createLimiter({
    store,
    deadlineMs,
    policies: {
      local,
      open: fixedWindow({ ...rule, onStoreFailure: "open" }),
      closed: fixedWindow({ ...rule, onStoreFailure: "closed" }),
      first: local,
      second: local,
      third: local,
    },
  });
}

async function send(
  route: Route,
  { port, agent }: { port: number; agent: Agent },
): Promise<Answer> {
  const sentAt = performance.now();
  const outgoing = request({ host: "127.0.0.1", port, path: `/${route}`, agent }).end();
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  let body = "";
  for await (const chunk of response) body += String(chunk);
  const status = response.statusCode ?? 0;
  const told = response.headers["x-degraded"] as Degraded | undefined;
  const degraded = told ?? (status === 503 ? "closed" : "none");
  const tookMs = performance.now() - sentAt;
  return { route, status, headers: response.headers, body, degraded, sentAt, tookMs };
}
