import { fixedWindow } from "@headgate/core";
import type { NextFunction, Request, Response } from "express";
import request from "supertest";
import { describe, expect, test } from "vitest";
import { frameworks, timed } from "./servers.js";

/** What `next` takes for no error, or for an order to leave a route or router. */
const thrown: readonly unknown[] = [undefined, null, 0, "", false, "route", "router", "boom"];

describe.each(frameworks)("%s", (_, framework) => {
  test.each(
    thrown.flatMap((value) => [[value, "throws"] as const, [value, "rejects with"] as const]),
  )(
    "%j that identify %s is an error for next, and never lets the request through",
    async (value, how) => {
      let ran = 0;
      const { limit } = timed(fixedWindow({ limit: 2, window: "1m", by: "user" }), {
        identify: () => {
          if (how === "throws") throw value;
          return Promise.reject(value);
        },
      });
      const app = framework();
      const router = framework.Router();
      const handler = (_request: Request, response: Response): void => {
        ran += 1;
        response.end();
      };
      router.get("/", limit, handler);
      app.use(router);
      app.get("/", handler);
      app.use((error: Error, _req: Request, response: Response, _next: NextFunction) => {
        response.status(500).json([error.message, error.cause === value]);
      });
      const response = await request(app).get("/");
      expect([response.status, response.body[1], ran]).toEqual([500, true, 0]);
      expect(response.body[0]).toContain("given as an option threw");
    },
  );
});
