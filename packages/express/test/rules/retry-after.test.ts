import { get } from "node:http";
import type { AddressInfo } from "node:net";
import { createLimiter, fixedWindow, type PolicyDefinition, slidingWindow } from "@headgate/core";
import { ManualClock } from "@headgate/core/testing";
import { parseItem } from "structured-headers";
import request from "supertest";
import { describe, expect, it } from "vitest";
import { rateLimit, rateLimits } from "../../src/index.js";
import { FailingStore } from "../failing-store.js";
import { type Framework, frameworks, listen, startMs, timed } from "../servers.js";

async function refused(
  framework: Framework,
  policy: PolicyDefinition = fixedWindow({ limit: 1, window: "1m" }),
) {
  const { clock, limit } = timed(policy);
  const app = framework().use(limit);
  app.get("/", (_request, response) => void response.end());
  await request(app).get("/");
  return { app, clock, response: await request(app).get("/") };
}

describe.each(frameworks)("%s", (_, framework) => {
  it("RA-1: it is on our 429 and 503, and on nothing else", async () => {
    const { limit } = timed(fixedWindow({ limit: 1, window: "1m" }));
    const app = framework();
    app.get("/busy", (_request, response) => void response.status(503).end());
    app.get("/limited", limit, (_request, response) => void response.end());
    app.get(
      "/closed",
      rateLimit({
        policy: fixedWindow({ limit: 1, window: "1m", onStoreFailure: "closed" }),
        store: new FailingStore(),
        onStoreError: () => {},
      }),
    );
    const told = async (path: string) => (await request(app).get(path)).headers["retry-after"];
    expect([
      await told("/limited"),
      await told("/limited"),
      await told("/closed"),
      await told("/busy"),
      await told("/nowhere"),
    ]).toEqual([undefined, "40", "1", undefined, undefined]);
  });

  it("RA-1: a Retry-After that somebody set before does not stay on what can never fit", async () => {
    const { limit } = timed(fixedWindow({ limit: 1, window: "1m" }), { cost: () => 2 });
    const app = framework().use((_request, response, next) => {
      response.set("Retry-After", "7");
      next();
    }, limit);
    expect((await request(app).get("/")).headers["retry-after"]).toBeUndefined();
  });

  it("RA-2: it is decimal digits alone, whatever the window", async () => {
    for (const window of [1, 999, 1_001, 86_400_000, 2 ** 45]) {
      const policy = fixedWindow({ limit: 1, window, anchor: "first-request" });
      const { response } = await refused(framework, policy);
      const text = response.headers["retry-after"] as string;
      expect(text).toMatch(/^[1-9][0-9]*$/);
      expect(Number.isInteger(parseItem(text)[0])).toBe(true);
    }
  });

  it("RA-3: it is at least 1", async () => {
    const policy = fixedWindow({ limit: 1, window: 1, anchor: "first-request" });
    expect((await refused(framework, policy)).response.headers["retry-after"]).toBe("1");
  });

  it("RA-4: it is at most 2147483, and Reset tells the true instant of a 30-day quota", async () => {
    const policy = slidingWindow({ limit: 1, window: "30d" });
    const { headers } = (await refused(framework, policy)).response;
    expect(headers["retry-after"]).toBe("2147483");
    expect(headers["x-ratelimit-reset"]).toBe("1702592001");
  });

  it("RA-5: it is one line, even where an earlier step had appended some", async () => {
    const { limit } = timed(fixedWindow({ limit: 1, window: "1m" }));
    const app = framework().use((_request, response, next) => {
      response.append("Retry-After", "7");
      response.append("Retry-After", "8");
      next();
    }, limit);
    app.get("/", (_request, response) => void response.end());
    await request(app).get("/");
    const { server } = await listen(app);
    const lines = await new Promise<readonly string[]>((resolve) => {
      get({ port: (server.address() as AddressInfo).port }, (incoming) => {
        incoming.resume();
        resolve(
          incoming.rawHeaders.filter((_name, index, all) =>
            /^retry-after$/i.test(all[index - 1] ?? ""),
          ),
        );
      });
    });
    expect(lines).toEqual(["40"]);
  });

  it("RA-6: it is never a date", async () => {
    const { response } = await refused(framework);
    expect(response.headers["retry-after"]).not.toMatch(/[^0-9]/);
  });

  it("RA-7: the same number stands in the message", async () => {
    const { app, clock, response } = await refused(framework);
    expect(response.headers["retry-after"]).toBe("40");
    expect(response.body.error.message).toBe("Too many requests. Retry after 40 seconds.");
    clock.advance(39_000);
    const last = await request(app).get("/");
    expect(last.headers["retry-after"]).toBe("1");
    expect(last.body.error.message).toBe("Too many requests. Retry after 1 second.");
  });

  it("RA-8: of several violated policies it tells the longest wait", async () => {
    const limiter = createLimiter({
      clock: new ManualClock(startMs),
      policies: {
        second: slidingWindow({ limit: 1, window: "10s" }),
        minute: slidingWindow({ limit: 1, window: "1m" }),
        free: slidingWindow({ limit: 9, window: "1h" }),
      },
    });
    const app = framework().use(rateLimits({ limiter })("second", "minute", "free"));
    app.get("/", (_request, response) => void response.end());
    await request(app).get("/");
    const { headers } = await request(app).get("/");
    expect(headers["retry-after"]).toBe("60");
  });

  it("RA-9: no other field begins with its name", async () => {
    const { headers } = (await refused(framework)).response;
    expect(Object.keys(headers).filter((name) => name.startsWith("retry-after"))).toEqual([
      "retry-after",
    ]);
  });
});
