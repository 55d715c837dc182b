import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { PolicyDefinition } from "@headgate/core";
import { ManualClock } from "@headgate/core/testing";
import type { RequestHandler } from "express";
import express5 from "express";
import express4 from "express4";
import { afterEach, vi } from "vitest";
import { type RateLimitOptions, rateLimit } from "../src/index.js";

export type Framework = typeof express5;

/** Both versions, for one test body; `types.test.ts` shows that neither needs this cast. */
export const frameworks: readonly (readonly [name: string, framework: Framework])[] = [
  ["Express 5", express5],
  ["Express 4", express4 as unknown as Framework],
];

export const startMs = 1_700_000_000_123;

export type TimedOptions = Omit<Partial<RateLimitOptions>, "clock"> & {
  readonly clock?: ManualClock;
};

/** A limiter whose only clock is moved by hand, from the instant of the golden vectors unless told otherwise. */
export function timed(
  policy: PolicyDefinition,
  options: TimedOptions = {},
): { readonly clock: ManualClock; readonly limit: RequestHandler } {
  const { clock = new ManualClock(startMs), ...rest } = options;
  return { clock, limit: rateLimit({ policy, clock, wallClock: () => clock.now(), ...rest }) };
}

const open: Server[] = [];

afterEach(async () => {
  vi.unstubAllGlobals();
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }
});

/** Listens on a free port of this machine until the test ends. */
export async function listen(listener: RequestListener): Promise<{ server: Server; port: number }> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  open.push(server);
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port };
}

/** Held requests go on at once, in the order of their slots. */
export function holdNoTime(): void {
  const { setTimeout: real } = globalThis;
  vi.stubGlobal("setTimeout", (run: () => void) => real(run, 0));
}

/** Collects the codes and texts of process warnings while it runs. */
export async function warningsDuring(run: () => unknown): Promise<readonly string[]> {
  const seen: string[] = [];
  // Each code is told once a process: the memory of that is put aside.
  const shared = globalThis as { [key: symbol]: unknown };
  const warned = Symbol.for("headgate.warned");
  const before = shared[warned];
  shared[warned] = new Set();
  const spy = vi.spyOn(process, "emitWarning").mockImplementation((text, options) => {
    const { code } = (options ?? {}) as { code?: string };
    seen.push(`${code}: ${String(text)}`);
  });
  try {
    await run();
  } finally {
    spy.mockRestore();
    shared[warned] = before;
  }
  return seen;
}
