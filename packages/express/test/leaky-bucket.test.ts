import { connect, type Socket } from "node:net";
import { createLimiter, leakyBucket, memoryStore } from "@headgate/core";
import { ManualClock } from "@headgate/core/testing";
import type { Request, Response } from "express";
import request from "supertest";
import { afterEach, describe, expect, it, vi } from "vitest";
import { rateLimit, rateLimits } from "../src/index.js";
import { type Framework, frameworks, listen, startMs } from "./servers.js";

afterEach(() => {
  vi.useRealTimers();
});

/** One departure a second, three may wait. Timers stand still until they are moved. */
async function queueOf(framework: Framework) {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const clock = new ManualClock(startMs);
  const policies = { jobs: leakyBucket({ limit: 1, window: "1s", queue: 3 }) };
  const limiter = createLimiter({ clock, policies });
  const limit = rateLimits({ limiter, wallClock: () => clock.now() });
  const departed: string[] = [];
  const arrived: string[] = [];
  const waiters: (() => void)[] = [];
  const app = framework();
  app.get(
    "/:id",
    limit("jobs", {
      onDecision: (_decision, req) => {
        arrived.push(req.path);
        for (const wake of waiters.splice(0)) wake();
      },
    }),
    (req: Request, response: Response) => {
      departed.push(req.path);
      response.end();
    },
  );
  const { port } = await listen(app);
  const until = async (count: number): Promise<void> => {
    while (arrived.length < count) await new Promise<void>((resolve) => waiters.push(resolve));
    await new Promise(setImmediate);
  };
  const send = (path: string): Socket => {
    const socket = connect(port, "127.0.0.1");
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    return socket;
  };
  const move = async (ms: number): Promise<void> => {
    clock.advance(ms);
    vi.advanceTimersByTime(ms);
    await new Promise(setImmediate);
  };
  return { port, limiter, departed, until, send, move, app };
}

describe.each(frameworks)("%s", (_, framework) => {
  it("requests ahead of the rate are held, and leave at the rate", async () => {
    const { departed, until, send, move } = await queueOf(framework);
    for (const [index, path] of ["/a", "/b", "/c", "/d"].entries()) {
      send(path);
      await until(index + 1);
    }
    expect(departed).toEqual(["/a"]);
    await move(999);
    expect(departed).toEqual(["/a"]);
    await move(1);
    expect(departed).toEqual(["/a", "/b"]);
    await move(1_000);
    expect(departed).toEqual(["/a", "/b", "/c"]);
    await move(1_000);
    expect(departed).toEqual(["/a", "/b", "/c", "/d"]);
  });

  it("a full queue refuses at once, and holds nobody for it", async () => {
    const { departed, until, send, app } = await queueOf(framework);
    for (const [index, path] of ["/a", "/b", "/c", "/d"].entries()) {
      send(path);
      await until(index + 1);
    }
    const { status, headers } = await request(app).get("/e");
    expect([status, headers["retry-after"], headers["x-ratelimit-limit"]]).toEqual([429, "1", "4"]);
    expect(departed).toEqual(["/a"]);
  });

  it("a client that leaves while it is held is let go: next is never called, and its slot is lost", async () => {
    const { departed, until, send, move } = await queueOf(framework);
    send("/a");
    await until(1);
    const leaving = send("/b");
    await until(2);
    send("/c");
    await until(3);
    const timers = vi.getTimerCount();
    leaving.destroy();
    while (vi.getTimerCount() === timers) await new Promise(setImmediate);
    await move(1_000);
    expect(departed).toEqual(["/a"]);
    await move(1_000);
    expect(departed).toEqual(["/a", "/c"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("a client that leaves with several requests held on one connection takes them all along", async () => {
    const { departed, until, send, move } = await queueOf(framework);
    const socket = send("/a");
    await until(1);
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    socket.write(get("/b") + get("/c"));
    await until(3);
    const timers = vi.getTimerCount();
    socket.destroy();
    while (vi.getTimerCount() === timers) await new Promise(setImmediate);
    await move(10_000);
    expect(departed).toEqual(["/a"]);
  });

  it("close lets the held requests go on at once, and holds no later ones", async () => {
    const { departed, until, send, limiter, move } = await queueOf(framework);
    for (const [index, path] of ["/a", "/b", "/c"].entries()) {
      send(path);
      await until(index + 1);
    }
    await limiter.close();
    expect(departed).toEqual(["/a", "/b", "/c"]);
    expect(vi.getTimerCount()).toBe(0);
    send("/d");
    await until(4);
    await move(0);
    expect(departed).toEqual(["/a", "/b", "/c", "/d"]);
  });

  it("with real timers none departs before its slot", async () => {
    const departures: number[] = [];
    const limit = rateLimit({
      policy: leakyBucket({ limit: 1, window: 40, queue: 2 }),
      store: memoryStore(),
    });
    const app = framework().use(limit);
    app.get("/", (_request, response) => {
      departures.push(performance.now());
      response.end();
    });
    const { server } = await listen(app);
    const sentAt = performance.now();
    const answers = await Promise.all(
      [0, 1, 2].map(async () => (await request(server).get("/")).status),
    );
    expect(answers).toEqual([200, 200, 200]);
    // Two intervals, but for the millisecond that clocks and timers each round by.
    expect((departures[2] as number) - sentAt).toBeGreaterThan(80 - 2);
  });
});
