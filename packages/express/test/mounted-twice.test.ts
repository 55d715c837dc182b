import { createLimiter, fixedWindow, memoryStore, tokenBucket } from "@headgate/core";
import { ManualClock } from "@headgate/core/testing";
import type { RequestHandler } from "express";
import request from "supertest";
import { describe, expect, it } from "vitest";
import { rateLimit, rateLimits } from "../src/index.js";
import { frameworks, startMs } from "./servers.js";

describe.each(frameworks)("one policy on two mounts, %s", (_, framework) => {
  function setUp(first: RequestHandler, second: RequestHandler) {
    const app = framework().use(first);
    app.get("/", second, (_request, response) => void response.end());
    return () => request(app).get("/");
  }

  function bucketOf5(options: { readonly outer: number; readonly inner: () => number }) {
    const clock = new ManualClock(startMs);
    const policies = { api: tokenBucket({ limit: 1, window: "1s", burst: 5 }) };
    const limiter = createLimiter({ clock, policies });
    const limit = rateLimits({ limiter, wallClock: () => clock.now() });
    const get = setUp(limit("api", { cost: options.outer }), limit("api", { cost: options.inner }));
    return { clock, get };
  }

  it("is charged once by two limiters that share a store", async () => {
    const store = memoryStore();
    const policy = fixedWindow({ limit: 10, window: "1m" });
    const get = setUp(rateLimit({ policy, store }), rateLimit({ policy, store }));
    expect((await get()).headers["x-ratelimit-remaining"]).toBe("9");
    expect((await get()).headers["x-ratelimit-remaining"]).toBe("8");
  });

  it("a refused rest is to be waited for until the whole cost fits, so that waiting gets there", async () => {
    const { clock, get } = bucketOf5({ outer: 3, inner: () => 5 });
    expect((await get()).status).toBe(200);
    clock.advance(3_000);
    const refused = await get();
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "5"]);
    clock.advance(5_000);
    expect((await get()).status).toBe(200);
  });

  it("a whole cost above the capacity can never fit, whatever has been paid of it", async () => {
    const { get } = bucketOf5({ outer: 3, inner: () => 6 });
    const refused = await get();
    expect(refused.status).toBe(429);
    expect(refused.headers["retry-after"]).toBeUndefined();
    expect(refused.body.error.message).toContain("never fit");
  });

  it("X-1: the fields are sent by a mount that shows them, though the one that paid did not", async () => {
    const limiter = createLimiter({
      policies: {
        api: fixedWindow({ limit: 3, window: "1m" }),
        login: fixedWindow({ limit: 2, window: "1m" }),
      },
    });
    const limit = rateLimits({ limiter });
    const get = setUp(
      limit("api", "login", { headers: false }),
      limit("api", { standardHeaders: "draft-11" }),
    );
    const { headers } = await get();
    expect([headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]]).toEqual(["3", "2"]);
    expect(headers["ratelimit-policy"]).toBe('"api";q=3;w=60');
  });
});
