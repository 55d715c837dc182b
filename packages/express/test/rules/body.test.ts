import { createLimiter, fixedWindow } from "@headgate/core";
import { ManualClock } from "@headgate/core/testing";
import request from "supertest";
import { describe, expect, it, test, vi } from "vitest";
import { rateLimit, rateLimits } from "../../src/index.js";
import { FailingStore } from "../failing-store.js";
import { type Framework, frameworks, startMs, type TimedOptions, timed } from "../servers.js";

const minute = fixedWindow({ limit: 1, window: "1m" });
const plainBody =
  '{"error":{"code":"RATE_LIMITED","message":"Too many requests. Retry after 40 seconds."}}';
const problemType = "https://iana.org/assignments/http-problem-types#quota-exceeded";

async function refusedOf(
  framework: Framework,
  options: TimedOptions = {},
  prepare: (app: ReturnType<Framework>) => void = () => {},
): Promise<request.Response> {
  const { limit } = timed(minute, options);
  const app = framework();
  prepare(app);
  app.use(limit);
  app.get("/", (_request, response) => void response.end());
  await request(app).get("/");
  return request(app).get("/").set("If-None-Match", "*");
}

describe.each(frameworks)("%s", (_, framework) => {
  it("B-1: the default body is exact, and its type is JSON", async () => {
    const { status, headers, text } = await refusedOf(framework);
    expect(status).toBe(429);
    expect(headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(text).toBe(plainBody);
    expect(headers["content-length"]).toBe(String(plainBody.length));
  });

  it("B-2: code is a constant: RATE_LIMITED, and RATE_LIMITER_UNAVAILABLE for 503", async () => {
    expect((await refusedOf(framework)).body.error.code).toBe("RATE_LIMITED");
    const closed = rateLimit({
      policy: { ...minute, onStoreFailure: "closed" },
      store: new FailingStore(),
      onStoreError: () => {},
    });
    const { status, body } = await request(framework().use(closed)).get("/");
    expect([status, body.error.code]).toEqual([503, "RATE_LIMITER_UNAVAILABLE"]);
  });

  it("B-3: the message's number is Retry-After's, singular for 1", async () => {
    const limitOf = (windowMs: number) =>
      timed(fixedWindow({ limit: 1, window: windowMs, anchor: "first-request" })).limit;
    for (const [windowMs, told] of [
      [1, "1 second"],
      [1_000, "1 second"],
      [1_001, "2 seconds"],
      [2 ** 40, "2147483 seconds"],
    ] as const) {
      const app = framework().use(limitOf(windowMs));
      await request(app).get("/");
      const { headers, body } = await request(app).get("/");
      expect(body.error.message).toBe(`Too many requests. Retry after ${told}.`);
      expect(told.split(" ")[0]).toBe(headers["retry-after"]);
    }
  });

  it("B-4: the problem form has its own type and members", async () => {
    const { headers, text } = await refusedOf(framework, { body: "problem" });
    expect(headers["content-type"]).toBe("application/problem+json");
    expect(text).toBe(
      `{"type":"${problemType}","title":"Quota Exceeded","status":429,"detail":"Too many requests. Retry after 40 seconds.","violated-policies":["default"]}`,
    );
  });

  it("B-4: its status is the real one, and it names each violated policy and no other", async () => {
    const limiter = createLimiter({
      clock: new ManualClock(startMs),
      policies: {
        one: fixedWindow({ limit: 1, window: "1m" }),
        two: fixedWindow({ limit: 2, window: "1m" }),
        also: fixedWindow({ limit: 1, window: "1h" }),
      },
    });
    const limit = rateLimits({ limiter, body: "problem", status: 403 });
    const app = framework().use(limit("one", "two", "also"));
    await request(app).get("/");
    const { status, text } = await request(app).get("/");
    expect([status, JSON.parse(text)]).toEqual([
      403,
      expect.objectContaining({ status: 403, "violated-policies": ["one", "also"] }),
    ]);
  });

  it("B-4: an outage is about:blank and Service Unavailable", async () => {
    const limit = rateLimit({
      policy: { ...minute, onStoreFailure: "closed" },
      store: new FailingStore(),
      onStoreError: () => {},
      body: "problem",
    });
    const { headers, text } = await request(framework().use(limit)).get("/");
    expect(headers["content-type"]).toBe("application/problem+json");
    expect(JSON.parse(text)).toEqual({
      type: "about:blank",
      title: "Service Unavailable",
      status: 503,
      detail: "The rate limiter is unavailable. Retry after 1 second.",
    });
  });

  it("B-5: a function replaces the body and adds headers, told the decision and the seconds", async () => {
    const body = vi.fn(() => ({
      contentType: "text/html",
      body: "<p>später</p>",
      headers: { "X-Support": "help@example.com" },
    }));
    const { headers, text, status } = await refusedOf(framework, { body });
    expect([status, headers["content-type"], headers["x-support"], text]).toEqual([
      429,
      "text/html",
      "help@example.com",
      "<p>später</p>",
    ]);
    expect(headers["content-length"]).toBe("14");
    expect(headers["retry-after"]).toBe("40");
    expect(headers["x-ratelimit-remaining"]).toBe("0");
    expect(body).toHaveBeenCalledTimes(1);
    expect(body).toHaveBeenCalledWith(
      expect.objectContaining({ allowed: false, reason: "limit", retryAfterMs: 39_877 }),
      expect.objectContaining({
        message: "Too many requests. Retry after 40 seconds.",
        retryAfterSeconds: 40,
        request: expect.objectContaining({ method: "GET" }),
      }),
    );
  });

  it("B-5: a function that throws, or gives a header that Node does not take, is the application's error", async () => {
    const thrower = await refusedOf(framework, {
      body: () => {
        throw new Error("the application's own");
      },
    });
    expect(thrower.status).toBe(500);
    const injector = await refusedOf(framework, {
      body: () => ({
        contentType: "text/plain",
        body: "",
        headers: { "X-A": "a\r\nSet-Cookie: b" },
      }),
    });
    expect(injector.status).toBe(500);
    expect(injector.headers["set-cookie"]).toBeUndefined();
  });

  it.each(["json", "problem"] as const)(
    "B-6: the body %s has no key, address or other detail",
    async (body) => {
      const { text } = await refusedOf(framework, { body, key: () => "secret-key-of-ada" });
      expect(text).not.toMatch(/secret|127\.0\.0\.1|::|limit"|window/);
    },
  );

  it("B-7: settings of the application, an ETag and If-None-Match do not touch the body", async () => {
    const { status, headers, text } = await refusedOf(framework, {}, (app) => {
      app.set("etag", "strong");
      app.set("json spaces", 4);
      app.set("json escape", true);
      app.set("json replacer", () => "replaced");
      app.use((req, response, next) => {
        // Only where the limiter answers: the handler's empty body has another length.
        if (req.get("If-None-Match") === undefined) return next();
        response.set("ETag", '"stale"');
        response.set("Last-Modified", new Date(0).toUTCString());
        response.set("Content-Encoding", "identity");
        response.set("Content-Length", "3");
        response.type("text/html");
        next();
      });
    });
    expect(status).toBe(429);
    expect(text).toBe(plainBody);
    expect(headers.etag).toBeUndefined();
    expect(headers["last-modified"]).toBeUndefined();
    expect(headers["content-encoding"]).toBeUndefined();
    expect(headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(headers["content-length"]).toBe(String(plainBody.length));
  });

  it("B-7: a middleware that wraps the end of a response, as compression does, gets the body whole", async () => {
    const written: unknown[] = [];
    await refusedOf(framework, {}, (app) => {
      app.use((_request, response, next) => {
        const end = response.end.bind(response) as (body?: unknown) => typeof response;
        response.end = ((body?: unknown) => {
          written.push(body);
          return end(body);
        }) as typeof response.end;
        next();
      });
    });
    expect(written.at(-1)).toBe(plainBody);
  });

  it("B-8: a refusal does not pass through the error handlers", async () => {
    const seen = vi.fn();
    const { limit } = timed(minute);
    const app = framework().use(limit);
    app.get("/", (_request, response) => void response.end());
    app.use((error: Error, _req: unknown, _res: unknown, next: (error: Error) => void) => {
      seen();
      next(error);
    });
    await request(app).get("/");
    expect((await request(app).get("/")).type).toBe("application/json");
    expect(seen).not.toHaveBeenCalled();
  });

  test("a missing key under deny is 403 with its own code, without Retry-After and fields", async () => {
    const { limit } = timed({ ...minute, by: "user" }, { onMissingKey: "deny" });
    const { status, headers, body } = await request(framework().use(limit)).get("/");
    expect(status).toBe(403);
    expect(body.error.code).toBe("RATE_LIMIT_KEY_MISSING");
    expect(headers["retry-after"]).toBeUndefined();
    expect(headers["cache-control"]).toBe("no-store");
    expect(Object.keys(headers).filter((name) => name.startsWith("x-ratelimit"))).toEqual([]);
  });
});
