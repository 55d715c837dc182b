import { connect } from "node:net";
import { fixedWindow } from "@headgate/core";
import request from "supertest";
import { describe, expect, it, test } from "vitest";
import { type Framework, frameworks, listen, type TimedOptions, timed } from "../servers.js";

const minute = fixedWindow({ limit: 2, window: "1m" });

function appOf(framework: Framework, options: TimedOptions = {}) {
  const { limit } = timed(minute, options);
  const app = framework().use(limit);
  app.get("/", (_request, response) => void response.set("ETag", '"v1"').send("hello"));
  return app;
}

const preflight = { Origin: "https://app.example", "Access-Control-Request-Method": "PUT" };

describe.each(frameworks)("%s", (_, framework) => {
  it("H-1: HEAD and GET share one budget and the same fields; a refused HEAD has no body", async () => {
    const app = appOf(framework);
    const head = await request(app).head("/");
    const get = await request(app).get("/");
    expect([head.headers["x-ratelimit-remaining"], get.headers["x-ratelimit-remaining"]]).toEqual([
      "1",
      "0",
    ]);
    const refused = await request(app).head("/");
    expect([
      refused.status,
      refused.headers["retry-after"],
      refused.headers["content-length"],
    ]).toEqual([429, "40", "88"]);
    expect(refused.text).toBeUndefined();
    expect((await request(app).get("/")).headers["content-length"]).toBe("88");
  });

  it("H-2: a true preflight is not counted and carries no fields", async () => {
    const app = appOf(framework);
    for (let call = 0; call < 5; call += 1) {
      const { status, headers } = await request(app).options("/").set(preflight);
      expect(status).toBe(200);
      expect(Object.keys(headers).filter((name) => name.includes("ratelimit"))).toEqual([]);
    }
    expect((await request(app).get("/")).headers["x-ratelimit-remaining"]).toBe("1");
  });

  test.each([
    ["without Origin", { "Access-Control-Request-Method": "PUT" }],
    ["without Access-Control-Request-Method", { Origin: "https://app.example" }],
    ["with neither", {}],
  ])("H-2: OPTIONS %s counts", async (_name, headers) => {
    const app = appOf(framework);
    await request(app).options("/").set(headers);
    await request(app).options("/").set(headers);
    expect((await request(app).options("/").set(headers)).status).toBe(429);
  });

  it("H-2: the headers of a preflight do not spare another method", async () => {
    const app = appOf(framework);
    for (const status of [200, 200, 429])
      expect((await request(app).get("/").set(preflight)).status).toBe(status);
  });

  it("H-2: an option counts preflights", async () => {
    const app = appOf(framework, { countPreflights: true });
    for (const status of [200, 200, 429])
      expect((await request(app).options("/").set(preflight)).status).toBe(status);
  });

  it("H-3: 304 keeps the fields and counts", async () => {
    const app = appOf(framework);
    const { status, headers } = await request(app).get("/").set("If-None-Match", '"v1"');
    expect([status, headers["x-ratelimit-remaining"]]).toEqual([304, "1"]);
  });

  it("H-4: a refusal is answered before the body has come, and keeps the connection", async () => {
    const { port } = await listen(appOf(framework, { cost: () => 3 }));
    const socket = connect(port, "127.0.0.1");
    socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nonly this");
    const [answer] = await new Promise<string[]>((resolve) =>
      socket.once("data", (chunk) => resolve([chunk.toString()])),
    );
    socket.destroy();
    expect(answer).toMatch(/^HTTP\/1\.1 429 /);
    expect(answer).not.toMatch(/connection: close/i);
  });

  it("H-5: the fields are those of the moment of the decision", async () => {
    const { clock, limit } = timed(minute);
    const app = framework().use(limit);
    app.get("/", (_request, response) => {
      clock.advance(50_000);
      response.end();
    });
    const { headers } = await request(app).get("/");
    expect([headers["x-ratelimit-remaining"], headers["x-ratelimit-reset"]]).toEqual([
      "1",
      "1700000040",
    ]);
  });

  it("H-6: names are found whatever their case, here as Node gives them", async () => {
    const app = appOf(framework);
    const { headers } = await request(app).get("/");
    expect(headers["x-ratelimit-limit"]).toBe("2");
  });
});
