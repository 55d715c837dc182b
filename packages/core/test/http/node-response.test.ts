import { once } from "node:events";
import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Holds } from "../../src/http/hold.js";
import { isOver, type NodeResponse, writePlan } from "../../src/http/node-response.js";
import { recordOf } from "../../src/http/record.js";
import { slidingWindow } from "../../src/policy/builders.js";
import { guardOf, limiterOf } from "./guarded.js";

/** A step for bare Node: what an adapter is without a framework. */
function step(exposeHeaders = false) {
  const { limiter } = limiterOf({ api: slidingWindow({ limit: 1, window: "1m" }) });
  const admit = guardOf(limiter, ["api"], { exposeHeaders });
  return async (request: IncomingMessage | object, response: NodeResponse): Promise<boolean> => {
    const { headers = {} } = request as { headers?: Record<string, string> };
    const plan = await admit({ headers }, recordOf(request));
    writePlan(response, plan);
    return plan.action === "continue";
  };
}

const exposed = "Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset";

describe("E-5: bare Node", () => {
  it("needs no framework", async () => {
    const admit = step(true);
    const server = createServer(async (request, response: ServerResponse) => {
      if (await admit(request, response)) response.end("passed");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const ask = async (): Promise<readonly unknown[]> => {
      const { port } = server.address() as AddressInfo;
      const asked = get({ port, host: "127.0.0.1", headers: { origin: "https://app.example" } });
      const [response] = (await once(asked, "response")) as [IncomingMessage];
      let body = "";
      for await (const chunk of response) body += String(chunk);
      const { headers, statusCode } = response;
      return [
        statusCode,
        headers["x-ratelimit-remaining"],
        headers["access-control-expose-headers"],
        body,
      ];
    };
    expect(await ask()).toEqual([200, "0", exposed, "passed"]);
    expect(await ask()).toEqual([
      429,
      "0",
      exposed,
      '{"error":{"code":"RATE_LIMITED","message":"Too many requests. Retry after 60 seconds."}}',
    ]);
    server.close();
    server.closeAllConnections();
  });

  it("H-6: and HTTP/2 has lower-case names and no Connection field", async () => {
    const admit = step();
    const server = createHttp2Server(async (request, response) => {
      if (await admit(request, response as unknown as NodeResponse)) response.end("passed");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const ask = async () => {
      const stream = session.request({ ":path": "/" });
      const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
      stream.resume();
      return headers;
    };
    await ask();
    const refused = await ask();
    expect(refused).toMatchObject({
      ":status": 429,
      "retry-after": "60",
      "x-ratelimit-limit": "1",
      "x-ratelimit-remaining": "0",
    });
    expect(Object.keys(refused).every((name) => name === name.toLowerCase())).toBe(true);
    expect(refused.connection).toBeUndefined();
    session.close();
    server.close();
  });
});

/** A response that remembers what was done to it. */
class Remembered {
  statusCode = 200;
  headersSent = false;
  writableEnded = false;
  destroyed = false;
  req?: { socket?: { destroyed?: boolean } | null };
  readonly headers = new Map<string, string>();
  readonly ended: (string | undefined)[] = [];
  getHeader = (name: string): string | undefined => this.headers.get(name.toLowerCase());
  setHeader = (name: string, value: string): unknown => this.headers.set(name.toLowerCase(), value);
  removeHeader = (name: string): void => void this.headers.delete(name.toLowerCase());
  end = (body?: string): unknown => this.ended.push(body);
  once = (): unknown => this;
  removeListener = (): unknown => this;
}

const refusal = {
  action: "reject",
  status: 429,
  body: "später",
  message: "later",
  headers: [
    ["Retry-After", "7"],
    ["X-Gone", undefined],
  ],
  expose: [],
  decision: undefined,
} as const;

describe("a plan is written", () => {
  it("B-7: without what an earlier step said of another body", () => {
    const response = new Remembered();
    const earlier = [
      "Content-Encoding",
      "Content-Language",
      "Content-Range",
      "ETag",
      "Last-Modified",
    ];
    for (const name of [...earlier, "X-Gone", "X-Kept"]) response.setHeader(name, "earlier");
    writePlan(response, refusal);
    expect(Object.fromEntries(response.headers)).toEqual({
      "x-kept": "earlier",
      "retry-after": "7",
      "content-length": "7",
    });
    expect([response.statusCode, response.ended]).toEqual([429, ["später"]]);
  });

  it("C-2: and an admitted one keeps all of that, and does not end", () => {
    const response = new Remembered();
    response.setHeader("ETag", "earlier");
    writePlan(response, {
      ...refusal,
      action: "continue",
      delayMs: 0,
      conclude: undefined,
      expose: ["A"],
    });
    expect(Object.fromEntries(response.headers)).toEqual({
      etag: "earlier",
      "retry-after": "7",
      "access-control-expose-headers": "A",
    });
    expect([response.statusCode, response.ended]).toEqual([200, []]);
  });

  it("E-6: not at all once the head is sent; a refusal then ends the response", () => {
    const response = new Remembered();
    response.headersSent = true;
    writePlan(response, { ...refusal, expose: ["A"] });
    expect([response.headers.size, response.statusCode, response.ended]).toEqual([
      0,
      200,
      [undefined],
    ]);
  });
});

describe("E-6: a response is over", () => {
  it("when it has ended, or its stream or socket is destroyed", () => {
    const over = (change: Partial<Remembered>): boolean =>
      isOver(Object.assign(new Remembered(), change));
    expect([
      over({}),
      over({ req: {} }),
      over({ req: { socket: null } }),
      over({ req: { socket: { destroyed: false } } }),
      over({ writableEnded: true }),
      over({ destroyed: true }),
      over({ req: { socket: { destroyed: true } } }),
    ]).toEqual([false, false, false, false, true, true, true]);
  });
});

describe("holding", () => {
  afterEach(() => void vi.useRealTimers());

  it("goes on after the delay, once", () => {
    vi.useFakeTimers();
    const goOn = vi.fn();
    const closing = new AbortController();
    new Holds(closing.signal).hold(100, goOn);
    vi.advanceTimersByTime(99);
    expect(goOn).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    closing.abort();
    vi.advanceTimersByTime(1_000);
    expect(goOn).toHaveBeenCalledTimes(1);
  });

  it("ends when it is given up", () => {
    vi.useFakeTimers();
    const goOn = vi.fn();
    const closing = new AbortController();
    new Holds(closing.signal).hold(100, goOn)();
    expect(vi.getTimerCount()).toBe(0);
    closing.abort();
    expect(goOn).not.toHaveBeenCalled();
  });

  it("ends for all at once when the limiter closes, in order, and later ones are not held", () => {
    vi.useFakeTimers();
    const order: string[] = [];
    const closing = new AbortController();
    const holds = new Holds(closing.signal);
    holds.hold(100, () => order.push("a"));
    holds.hold(200, () => order.push("b"));
    closing.abort();
    expect(order).toEqual(["a", "b"]);
    expect(vi.getTimerCount()).toBe(0);
    holds.hold(100, () => order.push("c"));
    vi.advanceTimersByTime(0);
    expect(order).toEqual(["a", "b", "c"]);
  });
});
