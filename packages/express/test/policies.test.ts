import {
  createLimiter,
  fixedWindow,
  leakyBucket,
  type PolicyNumbers,
  slidingWindow,
  tokenBucket,
} from "@headgate/core";
import { ManualClock } from "@headgate/core/testing";
import type express from "express";
import { Router } from "express";
import request from "supertest";
import { describe, expect, it } from "vitest";
import { decisionOf, type Limit, rateLimits } from "../src/index.js";
import { frameworks, startMs, warningsDuring } from "./servers.js";

const fields = (headers: Readonly<Record<string, string>>) =>
  Object.keys(headers).filter((name) => name.startsWith("x-ratelimit") || name === "retry-after");

function limited() {
  const clock = new ManualClock(startMs);
  const limiter = createLimiter({
    clock,
    policies: {
      perIp: fixedWindow({ limit: 100, window: "1m" }),
      strict: fixedWindow({ limit: 1, window: "1m" }),
      read: tokenBucket({ limit: 5, window: "1m", tiers: { pro: { limit: 20 } } }),
      closed: fixedWindow({ limit: 5, window: "1m", onStoreFailure: "closed" }),
      open: fixedWindow({ limit: 5, window: "1m", onStoreFailure: "open" }),
      item: fixedWindow({ limit: 5, window: "1m", by: ["ip", "route"] }),
      trial: fixedWindow({ limit: 1, window: "1m", shadow: true }),
      write: slidingWindow({ limit: 9, window: "1m" }),
    },
  });
  return { clock, limiter };
}

type Name = keyof ReturnType<typeof limited>["limiter"]["policies"];

describe.each(frameworks)("%s", (_, framework) => {
  describe("tiers", () => {
    it("keep the count when a caller's tier changes, in both directions", async () => {
      const limit = rateLimits({
        limiter: limited().limiter,
        tier: async (req) => req.get("x-plan"),
      });
      const app = framework().use(limit("read"));
      app.get("/", (_req, response) => void response.end());
      const get = async (plan?: string) => {
        const sent = request(app).get("/");
        const { status, headers } = await (plan === undefined ? sent : sent.set("x-plan", plan));
        return [status, headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]];
      };
      for (let left = 4; left >= 0; left -= 1)
        expect(await get()).toEqual([200, "5", String(left)]);
      expect(await get()).toEqual([429, "5", "0"]);
      expect(await get("pro")).toEqual([200, "20", "14"]);
      expect(await get()).toEqual([429, "5", "0"]);
    });

    it("that no policy knows are reported, and never mean unlimited", async () => {
      const limit = rateLimits({ limiter: limited().limiter, tier: () => "platinum" });
      const app = framework().use(limit("read"));
      app.get("/", (_req, response) => void response.end());
      const warnings = await warningsDuring(async () => {
        const { headers } = await request(app).get("/");
        expect(headers["x-ratelimit-limit"]).toBe("5");
      });
      expect(warnings).toEqual([
        expect.stringContaining('policy "read": tier must be one of pro, got "platinum"'),
      ]);
    });
  });

  describe("limits of the caller's own", () => {
    const withLimits = (name: "read" | "closed" | "open", numbers: unknown) => {
      const limit = rateLimits({
        limiter: limited().limiter,
        limits: { [name]: () => Promise.resolve(numbers as PolicyNumbers) },
      });
      const app = framework().use(limit(name));
      app.get("/", (_req, response) => void response.end());
      return () => request(app).get("/");
    };

    it("are the limit that the caller is told", async () => {
      const { headers } = await withLimits("read", { limit: 7, burst: 3 })();
      expect([headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]]).toEqual(["3", "2"]);
    });

    it("are told by the whole identity, though the policy counts by the address", async () => {
      const seen: unknown[] = [];
      const limit = rateLimits({
        limiter: limited().limiter,
        identify: (req) => ({ user: req.get("x-user") }),
        limits: {
          perIp: (identity) => {
            seen.push(identity);
            return { limit: identity.user === "ada" ? 7 : 3 };
          },
        },
      });
      const app = framework().use(limit("perIp"));
      app.get("/", (_req, response) => void response.end());
      const { headers } = await request(app).get("/").set("x-user", "ada");
      expect(headers["x-ratelimit-limit"]).toBe("7");
      expect(seen).toEqual([{ ip: "127.0.0.1", user: "ada" }]);
    });

    it.each([
      {},
      { limit: "7" },
      { limit: Number.NaN },
      { limit: Infinity },
      { limit: 0 },
      null,
      7,
    ])("that are rubbish (%j) follow the failure mode: local, closed, open", async (numbers) => {
      const local = await withLimits("read", numbers)();
      expect([local.status, local.headers["x-ratelimit-limit"]]).toEqual([200, "5"]);
      const closed = await withLimits("closed", numbers)();
      expect([closed.status, closed.headers["retry-after"]]).toEqual([503, "1"]);
      const open = await withLimits("open", numbers)();
      expect([open.status, fields(open.headers)]).toEqual([200, ["x-ratelimit-limit"]]);
    });
  });

  describe("inherited policies", () => {
    const app = framework();
    const limit = rateLimits({ limiter: limited().limiter, inherit: ["perIp"] });
    const group = limit.group("strict");
    const names = (req: express.Request) =>
      decisionOf(req)?.outcomes.map(({ policy }) => policy.name);
    app.get("/plain", limit("write"), (req, response) => void response.json(names(req)));
    app.get(
      "/off",
      limit("write", { override: { perIp: false } }),
      (req, response) => void response.json(names(req)),
    );
    app.get(
      "/other",
      group("write", { override: { strict: "read" } }),
      (req, response) => void response.json(names(req)),
    );
    app.get("/twice", limit("perIp"), (req, response) => void response.json(names(req)));
    app.get("/group", group("read"), (req, response) => void response.json(names(req)));

    it.each([
      ["/plain", ["perIp", "write"]],
      ["/off", ["write"]],
      ["/other", ["perIp", "read", "write"]],
      ["/twice", ["perIp"]],
      ["/group", ["perIp", "strict", "read"]],
    ])("of %s are %j, in one decision", async (path, expected) => {
      expect((await request(app).get(path)).body).toEqual(expected);
    });

    it.each<[names: string, mount: (limit: Limit<Name>) => express.Handler]>([
      ["perIp, strict", (all) => all.group("strict")()],
      ["strict", (all) => all.group("strict", { override: { perIp: false } })()],
      [
        "write",
        (all) =>
          all.group("strict", { override: { perIp: false } })("write", {
            override: { strict: false },
          }),
      ],
      ["read, strict", (all) => all.group("strict")({ override: { perIp: "read" } })],
      ["perIp, strict, read, write", (all) => all.group("strict").group("read")("write")],
      ["perIp, strict, write", (all) => all("write", { inherit: ["strict"] })],
      ["perIp, strict", (all) => all.group("strict")(() => false)],
      ["perIp, strict, read", (all) => all.group("strict")(() => "read")],
    ])("%s: groups and mounts add up", async (expected, mount) => {
      const server = framework();
      const all = rateLimits({ limiter: limited().limiter, inherit: ["perIp"] });
      server.get("/", mount(all), (req, response) => void response.json(names(req)?.join(", ")));
      expect((await request(server).get("/")).body).toEqual(expected);
    });

    it("of a group are named, and not chosen by a function", () => {
      expect(() => limit.group((() => "read") as never)).toThrow(
        "group: name policies; a mount may choose by a function",
      );
    });

    it("charge nothing when the mount's own policy refuses", async () => {
      const { limiter } = limited();
      const own = rateLimits({ limiter, inherit: ["perIp"] });
      const server = framework().use(own("strict"));
      server.get("/", (_req, response) => void response.end());
      for (let call = 0; call < 3; call += 1) await request(server).get("/");
      expect(limiter.peek("perIp", { ip: "127.0.0.1" }).remaining).toBe(99);
    });

    it("cannot be overridden where they are not inherited", () => {
      const message = 'override: policy "strict" is not inherited here (inherited: perIp)';
      expect(() => limit("write", { override: { strict: false } })).toThrow(
        expect.objectContaining({ code: "INVALID_OPTION", message }),
      );
    });

    it("must be policies of the limiter", () => {
      const wrong = { limiter: limited().limiter, inherit: ["gone" as never] };
      expect(() => rateLimits(wrong)("read")).toThrow(
        expect.objectContaining({ code: "UNKNOWN_POLICY" }),
      );
    });
  });

  describe("counting by the route", () => {
    it("shares one count among all paths of a pattern, and none with other routes", async () => {
      const limit = rateLimits({ limiter: limited().limiter });
      const app = framework();
      const done = (_req: express.Request, response: express.Response) => void response.end();
      app.get("/items/:id", limit("item"), done);
      app.get("/users/:id", limit("item"), done);
      const left = async (path: string) =>
        (await request(app).get(path)).headers["x-ratelimit-remaining"];
      expect(await left("/items/1")).toBe("4");
      expect(await left("/items/2?id=3")).toBe("3");
      expect(await left("/Items/4/")).toBe("2");
      expect(await left("/users/1")).toBe("4");
    });

    it("takes the pattern that the mount declares", async () => {
      const limit = rateLimits({ limiter: limited().limiter });
      const app = framework();
      const router = Router({ mergeParams: true });
      router.get("/", limit("item", { route: "/tenants/:tenant" }), (_req, response) => {
        response.end();
      });
      app.use("/tenants/:tenant", router);
      await request(app).get("/tenants/a");
      const { headers } = await request(app).get("/tenants/b");
      expect(headers["x-ratelimit-remaining"]).toBe("3");
    });

    it.each<[where: string, mount: (app: express.Express, step: express.Handler) => unknown]>([
      ["outside a route", (app, step) => app.use(step)],
      ["for a pattern that is no text", (app, step) => app.get(/^\/items/, step)],
      ["for several patterns", (app, step) => app.get(["/items/:id", "/things/:id"], step)],
      ["below a router with a path", (app, step) => app.use("/items", Router().get("/:id", step))],
    ])("is an error where Express does not know the pattern: %s", async (_where, mount) => {
      const { limiter } = limited();
      const app = framework();
      mount(app, rateLimits({ limiter })("item"));
      app.use((error: Error, _req: express.Request, response: express.Response, _next: unknown) => {
        response.status(500).json(error.message);
      });
      const { status, body } = await request(app).get("/items/1");
      expect([status, body]).toEqual([
        500,
        expect.stringContaining("give its mount the option route"),
      ]);
      expect(limiter.peek("item", { ip: "127.0.0.1", route: "/items/:id" }).remaining).toBe(5);
    });

    it("is known in a router without a path, and not asked for where nothing counts by it", async () => {
      const limit = rateLimits({ limiter: limited().limiter });
      const app = framework();
      app.use(limit(() => "perIp"));
      app.use(
        Router().get("/items/:id", limit("item"), (_req, response) => {
          response.end();
        }),
      );
      await request(app).get("/items/1");
      const { headers } = await request(app).get("/items/2");
      expect(headers["x-ratelimit-remaining"]).toBe("3");
    });
  });

  describe("a shadow policy", () => {
    it("alone puts no field on the response, and refuses nobody", async () => {
      const seen: unknown[] = [];
      const limit = rateLimits({ limiter: limited().limiter });
      const app = framework().use(
        limit("trial", { onDecision: ({ shadows }) => seen.push(shadows[0]?.allowed) }),
      );
      app.get("/", (_req, response) => void response.end());
      for (let call = 0; call < 3; call += 1) {
        const { status, headers } = await request(app).get("/");
        expect([status, fields(headers)]).toEqual([200, []]);
      }
      expect(seen).toEqual([true, false, false]);
    });

    it("next to enforced ones has no say in verdict and fields, and pays nothing when they refuse", async () => {
      const { limiter } = limited();
      const app = framework().use(rateLimits({ limiter })("trial", "strict"));
      app.get("/", (_req, response) => void response.end());
      const told = [];
      for (let call = 0; call < 3; call += 1) {
        const { status, headers } = await request(app).get("/");
        told.push([status, headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]]);
      }
      expect(told).toEqual([
        [200, "1", "0"],
        [429, "1", "0"],
        [429, "1", "0"],
      ]);
      expect(limiter.peek("trial", { ip: "127.0.0.1" }).shadows[0]?.remaining).toBe(0);
    });

    it("mounted beside an enforced limiter leaves its fields alone", async () => {
      const limit = rateLimits({ limiter: limited().limiter });
      const app = framework().use(limit("trial"), limit("perIp"), limit("trial"));
      app.get("/", (req, response) => void response.json(decisionOf(req)?.shadows.length));
      const { headers, body } = await request(app).get("/");
      expect([headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"], body]).toEqual([
        "100",
        "99",
        1,
      ]);
    });
  });

  it("policies that are replaced while serving count on, and are told at once", async () => {
    const { limiter } = limited();
    const app = framework().use(rateLimits({ limiter })("perIp"));
    app.get("/", (_req, response) => void response.end());
    const get = async () => {
      const { headers } = await request(app).get("/");
      return [headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]];
    };
    expect(await get()).toEqual(["100", "99"]);
    const perIp = fixedWindow({ limit: 10, window: "1m", version: 2 });
    limiter.replacePolicies({ ...limiter.policies, perIp });
    expect(await get()).toEqual(["10", "8"]);
  });

  it("policies that a mount cannot have are not put in the place of those that it has", async () => {
    const { limiter } = limited();
    const app = framework().use(rateLimits({ limiter, inherit: ["perIp"] })("write"));
    app.get("/", (_req, response) => void response.end());
    const queue = leakyBucket({ limit: 5, window: "1s", queue: 3, version: 2 });
    expect(() =>
      limiter.replacePolicies({ ...limiter.policies, perIp: queue, write: queue }),
    ).toThrow('policies "perIp" and "write": a request can wait in one leaky bucket at most');
    const { status, headers } = await request(app).get("/");
    expect([status, headers["x-ratelimit-limit"]]).toEqual([200, "9"]);
  });

  it("a wrong way to tell a success is an error", () => {
    const { limiter } = limited();
    const wrong = { succeeded: 200 as never };
    const error = expect.objectContaining({
      code: "INVALID_OPTION",
      message: "succeeded: must be a function, got 200",
    });
    expect(() => rateLimits({ limiter, ...wrong })).toThrow(error);
    expect(() => rateLimits({ limiter })("read", wrong)).toThrow(error);
    expect(() => rateLimits({ limiter }).group("read", wrong)).toThrow(error);
  });
});
