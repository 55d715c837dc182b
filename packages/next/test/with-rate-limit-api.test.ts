import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { NextApiRequest, NextApiResponse } from "next";
import { afterEach, describe, expect, it } from "vitest";
import { decisionOf, type WithRateLimitApiOptions, withRateLimitApi } from "../src/index.js";
import { shared, type TestPolicy, testLimiter } from "./limits.js";

type Options = Partial<WithRateLimitApiOptions<TestPolicy>>;

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Serves a limited handler that answers with what is left; the url. */
async function serve(options: Options = {}): Promise<string> {
  const limited = withRateLimitApi<TestPolicy>(
    (request, response) => response.end(String(decisionOf(request)?.remaining)),
    { limiter: testLimiter(), ...shared, policies: ["small"], ...options },
  );
  const server = createServer((request, response) => {
    limited(request as NextApiRequest, response as NextApiResponse).catch((error: unknown) => {
      response.statusCode = 500;
      response.end(String(error));
    });
  });
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("withRateLimitApi", () => {
  it("sets the fields, and tells the handler the decision", async () => {
    const response = await fetch(await serve());
    expect(await response.text()).toBe("1");
    expect(response.headers.get("x-ratelimit-remaining")).toBe("1");
  });

  it("refuses without calling the handler", async () => {
    const url = await serve({ cost: 2 });
    await fetch(url);
    const response = await fetch(url);
    expect(response.status).toBe(429);
    expect(response.headers.get("retry-after")).toBe("40");
    expect(await response.json()).toMatchObject({ error: { code: "RATE_LIMITED" } });
  });

  it("can count by the socket's address, which it knows", async () => {
    const url = await serve({ ip: { trustedProxies: 0 }, cost: 2 });
    await fetch(url, { headers: { "x-forwarded-for": "203.0.113.1" } });
    const response = await fetch(url, { headers: { "x-forwarded-for": "203.0.113.2" } });
    expect(response.status).toBe(429);
  });

  it("holds a request of a leaky bucket", async () => {
    const url = await serve({ policies: ["queue"] });
    await fetch(url);
    const sentAt = performance.now();
    expect((await fetch(url)).status).toBe(200);
    expect(performance.now() - sentAt).toBeGreaterThanOrEqual(99);
  });

  it("asks for the choice of an address at construction", () => {
    const options = { limiter: testLimiter(), policies: ["small"] };
    expect(() => withRateLimitApi(() => undefined, options as never)).toThrow(/ip must say where/);
  });
});
