import { fixedWindow } from "@headgate/core";
import type { NextFunction, Request, Response } from "express";
import request from "supertest";
import { describe, expect, it, test } from "vitest";
import { rateLimit } from "../../src/index.js";
import { FailingStore } from "../failing-store.js";
import { type Framework, frameworks, type TimedOptions, timed } from "../servers.js";

const minute = fixedWindow({ limit: 1, window: "1m" });
const ours = "Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset";

type Step = (request: Request, response: Response, next: NextFunction) => void;

function appOf(
  framework: Framework,
  options: TimedOptions = {},
  before: Step = (_q, _s, next) => next(),
) {
  const { limit } = timed(minute, options);
  const app = framework().use(before, limit);
  app.get("/", (_request, response) => void response.end());
  return { get: () => request(app).get("/").set("Origin", "https://app.example") };
}

function exposing(value: string | string[]): Step {
  return (_request, response, next) => {
    response.setHeader("Access-Control-Expose-Headers", value);
    next();
  };
}

describe.each(frameworks)("%s", (_, framework) => {
  it("C-1: 429 and our 503 are no-store, whatever an earlier step had said", async () => {
    const { get } = appOf(framework, {}, (_request, response, next) => {
      response.set("Cache-Control", "public, max-age=600");
      next();
    });
    await get();
    expect((await get()).headers["cache-control"]).toBe("no-store");
    const closed = rateLimit({
      policy: { ...minute, onStoreFailure: "closed" },
      store: new FailingStore(),
      onStoreError: () => {},
    });
    const { headers } = await request(framework().use(closed)).get("/");
    expect(headers["cache-control"]).toBe("no-store");
  });

  it("C-2: an allowed response keeps its Cache-Control, or has none", async () => {
    const { get } = appOf(framework, {}, (_request, response, next) => {
      response.set("Cache-Control", "public, max-age=600");
      next();
    });
    expect((await get()).headers["cache-control"]).toBe("public, max-age=600");
    expect((await appOf(framework).get()).headers["cache-control"]).toBeUndefined();
    expect((await appOf(framework).get()).headers.vary).toBeUndefined();
  });

  it("C-5: nothing is exposed by default, nor to requests without an Origin", async () => {
    const exposed = "access-control-expose-headers";
    expect((await appOf(framework).get()).headers[exposed]).toBeUndefined();
    const { get } = appOf(framework, { exposeHeaders: true });
    expect((await get().unset("Origin")).headers[exposed]).toBeUndefined();
  });

  test.each<[string, string | string[], string]>([
    ["nothing", "", ours],
    ["other names", "ETag, X-Total", `ETag, X-Total, ${ours}`],
    ["a list of lines", ["ETag", "X-Total"], `ETag, X-Total, ${ours}`],
    [
      "some of ours in another case",
      "retry-after,X-RATELIMIT-RESET",
      "retry-after, X-RATELIMIT-RESET, X-RateLimit-Limit, X-RateLimit-Remaining",
    ],
    ["a star", "*", "*"],
    ["a star among others", "ETag, *", "ETag, *"],
  ])("C-5: exposed names merge with %s, nothing twice", async (_name, before, after) => {
    const { get } = appOf(framework, { exposeHeaders: true }, exposing(before));
    for (const status of [200, 429]) {
      const response = await get();
      expect([response.status, response.headers["access-control-expose-headers"]]).toEqual([
        status,
        after,
      ]);
    }
  });

  it("C-5: what is exposed follows the prefix, the IETF option and headers: false", async () => {
    const exposedWith = async (options: TimedOptions) =>
      (await appOf(framework, { exposeHeaders: true, ...options }).get()).headers[
        "access-control-expose-headers"
      ];
    expect(await exposedWith({ headerPrefix: "Limit" })).toBe(
      "Retry-After, Limit-Limit, Limit-Remaining, Limit-Reset",
    );
    expect(await exposedWith({ standardHeaders: "draft-11" })).toBe(
      `${ours}, RateLimit-Policy, RateLimit`,
    );
    expect(await exposedWith({ headers: false })).toBe("Retry-After");
  });

  it("C-6: behind a cors step the refusal keeps its headers, and preflights end before the limiter", async () => {
    const cors: Step = (req, response, next) => {
      response.set("Access-Control-Allow-Origin", "https://app.example");
      if (req.method === "OPTIONS") response.status(204).end();
      else next();
    };
    const { get } = appOf(framework, { exposeHeaders: true }, cors);
    await get();
    const { status, headers } = await get();
    expect([
      status,
      headers["access-control-allow-origin"],
      headers["access-control-expose-headers"],
    ]).toEqual([429, "https://app.example", ours]);
  });

  it("C-7: the body function can add the CORS headers that a refusal would lack", async () => {
    const { get } = appOf(framework, {
      body: (_decision, { message }) => ({
        contentType: "text/plain",
        body: message,
        headers: { "Access-Control-Allow-Origin": "*" },
      }),
    });
    await get();
    const { text, headers } = await get();
    expect([text, headers["access-control-allow-origin"]]).toEqual([
      "Too many requests. Retry after 40 seconds.",
      "*",
    ]);
  });
});
