import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createLimiter, fixedWindow, type Limiter } from "@headgate/core";
import { rateLimits } from "@headgate/express";
import type { RedisStore } from "@headgate/redis";
import express from "express";

/** How long an answer may take: a busy machine must not make Redis look as if it were down. */
export const patientMs = 10_000;

export const routes = ["local", "open", "closed"] as const;

/** An Express application whose limits are in a store, one route for each failure mode. */
export interface LimitedApp {
  readonly port: number;
  readonly limiter: Limiter<(typeof routes)[number], RedisStore>;
  close(): Promise<void>;
}

export async function startLimitedApp(store: RedisStore): Promise<LimitedApp> {
  const rule = { limit: 20, window: "1h", by: "user", anchor: "first-request" } as const;
  const limiter = createLimiter({
    store,
    deadlineMs: patientMs,
    policies: {
      local: fixedWindow(rule),
      open: fixedWindow({ ...rule, onStoreFailure: "open" }),
      closed: fixedWindow({ ...rule, onStoreFailure: "closed" }),
    },
    onStoreError: () => {},
  });
  const limit = rateLimits({
    limiter,
    identify: (incoming) => ({ user: incoming.get("x-user") }),
    onDecision: ({ degraded }, incoming) => incoming.res?.set("x-degraded", degraded),
  });
  const app = express();
  for (const route of routes) app.get(`/${route}`, limit(route), (_, response) => response.end());
  const server: Server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    limiter,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
      await limiter.close();
    },
  };
}
