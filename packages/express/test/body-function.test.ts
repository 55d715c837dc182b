import { fixedWindow } from "@headgate/core";
import request from "supertest";
import { describe, expect, test } from "vitest";
import { frameworks, type TimedOptions, timed, warningsDuring } from "./servers.js";

const wrong: readonly (readonly [string, () => unknown])[] = [
  ["nothing", () => undefined],
  ["text alone", () => "too many"],
  ["a body that is no text", () => ({ contentType: "text/plain", body: 123 })],
  ["no content type", () => ({ body: "too many" })],
  ["a promise", async () => ({ contentType: "text/plain", body: "too many" })],
];

describe.each(frameworks)("%s", (_, framework) => {
  test.each(wrong)(
    "B-5: a body function that gives %s leaves the usual refusal, with one warning",
    async (_name, body) => {
      const options = { body } as unknown as TimedOptions;
      const { limit } = timed(fixedWindow({ limit: 1, window: "1m" }), options);
      const app = framework().use(limit);
      app.get("/", (_request, response) => void response.end());
      await request(app).get("/");
      const warnings = await warningsDuring(async () => {
        for (let call = 0; call < 2; call += 1) {
          const refused = await request(app).get("/");
          expect(refused.status).toBe(429);
          expect(refused.headers["content-type"]).toBe("application/json; charset=utf-8");
          expect(refused.body.error.code).toBe("RATE_LIMITED");
        }
      });
      expect(warnings.map((text) => text.split(":")[0])).toEqual(["HEADGATE_BODY"]);
    },
  );
});
