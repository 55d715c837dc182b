import { createLimiter, fixedWindow } from "@headgate/core";
import type { NextFunction, Request, Response } from "express";
import request from "supertest";
import { describe, expect, it } from "vitest";
import { rateLimits } from "../src/index.js";
import { type Framework, frameworks, warningsDuring } from "./servers.js";

type WithUser = Request & { user?: { id: string } };

function appOf(framework: Framework) {
  const limiter = createLimiter({
    policies: {
      perimeter: fixedWindow({ limit: 6, window: "1h" }),
      perUser: fixedWindow({ limit: 2, window: "1h", by: "user" }),
    },
  });
  const limit = rateLimits({
    limiter,
    identify: (req) => ({ user: (req as WithUser).user?.id }),
  });
  const runs = { authenticate: 0, parse: 0, handle: 0 };
  const authenticate = (req: Request, response: Response, next: NextFunction): void => {
    runs.authenticate += 1;
    const id = req.get("authorization");
    if (id === undefined) {
      response.status(401).end();
      return;
    }
    (req as WithUser).user = { id };
    next();
  };
  const parse = framework.json({
    verify: () => {
      runs.parse += 1;
    },
  });
  const app = framework();
  app.use(limit("perimeter"));
  app.post("/orders", authenticate, limit("perUser"), parse, (_request, response) => {
    runs.handle += 1;
    response.status(201).json({ ok: true });
  });
  const order = (user?: string) => {
    const test = request(app)
      .post("/orders")
      .send({ items: [1] });
    return user === undefined ? test : test.set("authorization", user);
  };
  return { runs, order };
}

describe.each(frameworks)("%s", (_, framework) => {
  it("S-1: a refused request runs neither the body parser nor the handler", async () => {
    const { order, runs } = appOf(framework);
    for (const status of [201, 201, 429, 429]) expect((await order("ada")).status).toBe(status);
    expect(runs).toEqual({ authenticate: 4, parse: 2, handle: 2 });
  });

  it("authentication stands before the user's limiter: one user's refusals are not another's", async () => {
    const { order } = appOf(framework);
    for (const status of [201, 201, 429]) expect((await order("ada")).status).toBe(status);
    expect((await order("grace")).status).toBe(201);
  });

  it("the perimeter stands before authentication: failed attempts count there, and are then spared", async () => {
    const { order, runs } = appOf(framework);
    for (let guess = 0; guess < 6; guess += 1) expect((await order()).status).toBe(401);
    const refused = await order("ada");
    expect(refused.status).toBe(429);
    expect(refused.headers["x-ratelimit-limit"]).toBe("6");
    expect(runs).toEqual({ authenticate: 6, parse: 0, handle: 0 });
  });

  it("a 401 behind the perimeter carries the perimeter's fields", async () => {
    const { order } = appOf(framework);
    const { status, headers } = await order();
    expect([status, headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]]).toEqual([
      401,
      "6",
      "5",
    ]);
  });

  it("a limiter of users that stands before authentication warns once, and counts by address", async () => {
    const limiter = createLimiter({
      policies: { perUser: fixedWindow({ limit: 2, window: "1h", by: "user" }) },
    });
    const limit = rateLimits({
      limiter,
      identify: (req) => ({ user: (req as WithUser).user?.id }),
    });
    const app = framework().use(limit("perUser"));
    app.use((_request, response) => void response.end());
    const statuses: number[] = [];
    const warnings = await warningsDuring(async () => {
      for (const user of ["a", "b", "c"])
        statuses.push((await request(app).get("/").set("authorization", user)).status);
    });
    expect(statuses).toEqual([200, 200, 429]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/^HEADGATE_NO_IDENTITY: policy "perUser" counts by "user"/);
  });
});
