import { fixedWindow } from "@headgate/core";
import { parseRateLimit } from "ratelimit-header-parser";
import { parseItem } from "structured-headers";
import request from "supertest";
import { describe, expect, it, test } from "vitest";
import { type Framework, frameworks, startMs, timed } from "./servers.js";

const limit = 5;
const resetSeconds = Math.ceil((Math.floor(startMs / 60_000) + 1) * 60);

function appOf(framework: Framework) {
  const limiter = timed(fixedWindow({ limit, window: "1m" }));
  const app = framework();
  app.use(limiter.limit);
  app.get("/200", (_request, response) => void response.json({ ok: true }));
  app.post("/201", (_request, response) => void response.status(201).json({ ok: true }));
  app.delete("/204", (_request, response) => void response.status(204).end());
  app.get("/206", (_request, response) => {
    response.status(206).set("Content-Range", "bytes 0-1/4").send("ab");
  });
  app.get("/301", (_request, response) => response.redirect(301, "/200"));
  app.get("/304", (_request, response) => void response.set("ETag", '"v1"').send("cached"));
  app.get("/400", (_request, response) => void response.status(400).json({ error: "bad" }));
  app.get("/401", (_request, response) => {
    response.status(401).set("WWW-Authenticate", "Bearer").end();
  });
  app.get("/500", () => {
    throw new Error("the handler's own");
  });
  app.get("/written", (_request, response) => {
    response.writeHead(200, { "Content-Type": "text/plain" });
    response.end("by hand");
  });
  app.get("/stream", (_request, response) => {
    response.write("one");
    setImmediate(() => response.end("two"));
  });
  app.set("env", "test");
  return { app, clock: limiter.clock };
}

type Send = (app: never) => request.Test;
type Case = readonly [title: string, status: number, send: Send];

const cases: readonly Case[] = [
  ["200", 200, (app) => request(app).get("/200")],
  ["201", 201, (app) => request(app).post("/201")],
  ["204", 204, (app) => request(app).delete("/204")],
  ["206", 206, (app) => request(app).get("/206")],
  ["301", 301, (app) => request(app).get("/301").redirects(0)],
  ["304", 304, (app) => request(app).get("/304").set("If-None-Match", '"v1"')],
  ["400", 400, (app) => request(app).get("/400")],
  ["401", 401, (app) => request(app).get("/401")],
  ["404", 404, (app) => request(app).get("/nowhere")],
  ["500", 500, (app) => request(app).get("/500")],
  ["HEAD", 200, (app) => request(app).head("/200")],
  ["writeHead", 200, (app) => request(app).get("/written")],
  ["a stream", 200, (app) => request(app).get("/stream")],
];

/** The three fields as an independent parser of structured fields reads them. */
function fieldsOf(response: request.Response): readonly unknown[] {
  return ["limit", "remaining", "reset"].map((name) => {
    const text: string | undefined = response.headers[`x-ratelimit-${name}`];
    return text === undefined ? undefined : parseItem(text)[0];
  });
}

describe.each(frameworks)("%s", (_, framework) => {
  test.each(cases)("X-1: all three fields stand on %s", async (_title, status, send) => {
    const { app } = appOf(framework);
    const response = await send(app as never);
    expect(response.status).toBe(status);
    expect(fieldsOf(response)).toEqual([limit, limit - 1, resetSeconds]);
    expect(response.headers["retry-after"]).toBeUndefined();
    expect(parseRateLimit(response.headers, { reset: "unix" })).toEqual({
      limit,
      remaining: limit - 1,
      used: 1,
      reset: new Date(resetSeconds * 1000),
    });
  });

  test.each(cases)("X-1: and on the 429 to what would be %s", async (title, _status, send) => {
    const { app } = appOf(framework);
    for (let spent = 0; spent < limit; spent += 1) await request(app).get("/200");
    const response = await send(app as never);
    expect(response.status).toBe(429);
    expect(fieldsOf(response)).toEqual([limit, 0, resetSeconds]);
    const seconds = Number(response.headers["retry-after"]);
    expect(parseItem(response.headers["retry-after"] as string)[0]).toBe(seconds);
    expect(startMs + seconds * 1000).toBeGreaterThanOrEqual(resetSeconds * 1000);
    expect(response.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(response.headers["cache-control"]).toBe("no-store");
    expect(response.headers.etag).toBeUndefined();
    expect(response.text ?? "").toBe(
      title === "HEAD"
        ? ""
        : `{"error":{"code":"RATE_LIMITED","message":"Too many requests. Retry after ${seconds} seconds."}}`,
    );
    // A HEAD's 429 tells the length of the body that it leaves out, like every other one.
    expect(Number(response.headers["content-length"])).toBeGreaterThan(80);
  });

  it("X-5: remaining counts down to 0 on the last one admitted, and stays 0 on the refusal", async () => {
    const { app } = appOf(framework);
    const seen: string[] = [];
    for (let call = 0; call <= limit; call += 1) {
      const response = await request(app).get("/200");
      seen.push(`${response.status} ${response.headers["x-ratelimit-remaining"]}`);
    }
    expect(seen).toEqual(["200 4", "200 3", "200 2", "200 1", "200 0", "429 0"]);
  });
});
