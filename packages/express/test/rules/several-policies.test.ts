import {
  createLimiter,
  fixedWindow,
  type PolicyDefinition,
  slidingWindow,
  tokenBucket,
} from "@headgate/core";
import { ManualClock } from "@headgate/core/testing";
import { parseList } from "structured-headers";
import request from "supertest";
import { describe, expect, it, test } from "vitest";
import { decisionOf, rateLimit, rateLimits } from "../../src/index.js";
import { type Framework, frameworks, startMs, timed } from "../servers.js";

function appOf<const N extends string>(
  framework: Framework,
  policies: Readonly<Record<N, PolicyDefinition>>,
  options: { cost?: (req: { query: Record<string, unknown> }) => number } = {},
) {
  const clock = new ManualClock(startMs);
  const limiter = createLimiter({ clock, policies });
  const limit = rateLimits({
    limiter,
    wallClock: () => clock.now(),
    standardHeaders: "draft-11",
    ...options,
  });
  const app = framework();
  const route = (path: string, ...names: [N, ...N[]]) => {
    app.get(path, limit(...names), (_request, response) => void response.end());
    return path;
  };
  return { app, clock, limit, route, get: (path: string) => request(app).get(path) };
}

function told({ status, headers }: request.Response): string {
  return `${status} ${headers["x-ratelimit-limit"]}/${headers["x-ratelimit-remaining"]}`;
}

describe.each(frameworks)("%s", (_, framework) => {
  it("M-1: a refusal by one policy consumes nothing in the others", async () => {
    const { route, get } = appOf(framework, {
      wide: fixedWindow({ limit: 10, window: "1m" }),
      narrow: fixedWindow({ limit: 1, window: "1m" }),
    });
    route("/both", "wide", "narrow");
    route("/wide", "wide");
    expect(told(await get("/both"))).toBe("200 1/0");
    for (let call = 0; call < 20; call += 1) expect((await get("/both")).status).toBe(429);
    expect(told(await get("/wide"))).toBe("200 10/8");
  });

  it("M-2: refused, the violated policy with the longest wait is reported; its Reset covers it", async () => {
    const { route, get } = appOf(framework, {
      short: slidingWindow({ limit: 1, window: "10s" }),
      long: slidingWindow({ limit: 1, window: "1m" }),
      loose: slidingWindow({ limit: 5, window: "1h" }),
    });
    route("/", "loose", "short", "long");
    await get("/");
    const { headers } = await get("/");
    expect([
      headers["x-ratelimit-limit"],
      headers["x-ratelimit-remaining"],
      headers["retry-after"],
      headers["x-ratelimit-reset"],
    ]).toEqual(["1", "0", "60", "1700000061"]);
  });

  it("M-2: of equal waits the first declared one is reported", async () => {
    const { route, get } = appOf(
      framework,
      {
        two: slidingWindow({ limit: 2, window: "1m" }),
        dear: slidingWindow({ limit: 3, window: "1m" }),
      },
      { cost: ({ query }) => Number(query.cost ?? 1) },
    );
    route("/", "two", "dear");
    await get("/?cost=2");
    // Both lack a unit of the same instant.
    expect(told(await get("/?cost=2"))).toBe("429 2/0");
  });

  it("M-3: allowed, the policy with the fewest further requests of this cost is reported", async () => {
    const { route, get, limit, app } = appOf(framework, {
      burst: fixedWindow({ limit: 10, window: "10s" }),
      daily: fixedWindow({ limit: 1000, window: "1d" }),
    });
    route("/both", "burst", "daily");
    route("/daily", "daily");
    app.get("/bulk", limit("daily", { cost: 500 }), (_request, response) => void response.end());
    app.get("/rest", limit("daily", { cost: 497 }), (_request, response) => void response.end());
    expect(told(await get("/both"))).toBe("200 10/9");
    await get("/bulk");
    await get("/rest");
    expect(told(await get("/both"))).toBe("200 1000/1");
  });

  it("M-3: a dearer request divides what remains by its cost", async () => {
    const { app, limit, get } = appOf(framework, {
      units: fixedWindow({ limit: 20, window: "1m" }),
      calls: fixedWindow({ limit: 4, window: "1m" }),
    });
    app.get(
      "/",
      limit("calls", "units", { cost: { units: 8 } }),
      (_request, response) => void response.end(),
    );
    // 3 further calls, but 12 units are only 1 further request of 8.
    expect(told(await get("/"))).toBe("200 20/12");
  });

  it("M-3: of equally tight ones the longer reset is reported, then the first declared", async () => {
    const { route, get } = appOf(framework, {
      brief: fixedWindow({ limit: 3, window: "1m" }),
      lasting: fixedWindow({ limit: 3, window: "1h" }),
      twin: fixedWindow({ limit: 3, window: "1h" }),
    });
    route("/", "brief", "lasting", "twin");
    const { headers } = await get("/");
    expect(Number(headers["x-ratelimit-reset"])).toBe((Math.floor(startMs / 3_600_000) + 1) * 3600);
  });

  it("M-4: the IETF lists carry all policies in declared order, refused or not", async () => {
    const { route, get } = appOf(framework, {
      b: fixedWindow({ limit: 1, window: "1m" }),
      a: tokenBucket({ limit: 60, window: "1m" }),
    });
    route("/", "b", "a");
    for (const status of [200, 429]) {
      const response = await get("/");
      expect(response.status).toBe(status);
      for (const field of ["ratelimit", "ratelimit-policy"]) {
        const names = parseList(response.headers[field] as string).map(([name]) => name);
        expect(names).toEqual(["b", "a"]);
      }
    }
  });

  test.each(["outer is tighter", "inner is tighter"])(
    "M-5: of two limiters the tighter one is told: %s",
    async (which) => {
      const limits = which === "outer is tighter" ? [3, 9] : [9, 3];
      const outer = timed(
        fixedWindow({ name: "outer", limit: limits[0] as number, window: "1m" }),
        { standardHeaders: "draft-11" },
      );
      const inner = timed(
        fixedWindow({ name: "inner", limit: limits[1] as number, window: "1m" }),
        { standardHeaders: "draft-11" },
      );
      const app = framework().use(outer.limit);
      app.get(
        "/",
        inner.limit,
        (req, response) => void response.json(decisionOf(req)?.outcomes.length),
      );
      const response = await request(app).get("/");
      expect(told(response)).toBe("200 3/2");
      expect(parseList(response.headers.ratelimit as string).map(([name]) => name)).toEqual([
        "outer",
        "inner",
      ]);
      expect(response.body).toBe(2);
    },
  );

  it("M-5: it merges what is reported, not what was charged: an inner refusal leaves the outer charge", async () => {
    const outer = timed(fixedWindow({ name: "outer", limit: 9, window: "1m" }));
    const inner = timed(fixedWindow({ name: "inner", limit: 1, window: "1m" }));
    const app = framework().use(outer.limit);
    app.get("/inner", inner.limit, (_request, response) => void response.end());
    app.get("/outer", (_request, response) => void response.end());
    for (const expected of ["200 1/0", "429 1/0", "429 1/0"])
      expect(told(await request(app).get("/inner"))).toBe(expected);
    expect(told(await request(app).get("/outer"))).toBe("200 9/5");
  });

  it("M-5: a limiter that decided earlier is told with the time that has passed since", async () => {
    const clock = new ManualClock(startMs);
    const outer = timed(
      fixedWindow({ name: "outer", limit: 2, window: "1m", anchor: "first-request" }),
      { clock },
    );
    const inner = timed(fixedWindow({ name: "inner", limit: 9, window: "1m" }), { clock });
    const app = framework().use(outer.limit);
    app.use((_request, _response, next) => {
      clock.advance(30_000);
      next();
    }, inner.limit);
    const { headers } = await request(app).get("/");
    expect([headers["x-ratelimit-limit"], headers["x-ratelimit-reset"]]).toEqual([
      "2",
      "1700000061",
    ]);
  });

  it("M-5: the same policy mounted twice charges once, and a dearer mount charges the difference", async () => {
    const { app, limit, get } = appOf(framework, { api: fixedWindow({ limit: 10, window: "1m" }) });
    const end = (_request: unknown, response: { end(): void }): void => response.end();
    app.get("/twice", limit("api"), limit("api"), limit("api"), end);
    app.get("/dearer", limit("api"), limit("api", { cost: 3 }), limit("api", { cost: 2 }), end);
    expect(told(await get("/twice"))).toBe("200 10/9");
    expect(told(await get("/dearer"))).toBe("200 10/6");
  });

  it("M-5: one middleware used on the application and on a route charges once", async () => {
    const { limit } = timed(fixedWindow({ limit: 5, window: "1m" }));
    const app = framework().use(limit);
    app.use("/api", limit);
    app.get("/api/items", limit, (_request, response) => void response.end());
    expect(told(await request(app).get("/api/items"))).toBe("200 5/4");
  });

  it("M-5: two limiters with one policy name and stores of their own charge each", async () => {
    const a = timed(fixedWindow({ limit: 5, window: "1m" }));
    const b = timed(fixedWindow({ limit: 4, window: "1m" }));
    const app = framework().use(a.limit, b.limit);
    app.get("/", (_request, response) => void response.end());
    expect(told(await request(app).get("/"))).toBe("200 4/3");
    expect(told(await request(app).get("/"))).toBe("200 4/2");
  });

  test.each(["", "1a", "a b", "ä", 'a"b', "a\r\nb", "a".repeat(65), "a;q=1"])(
    "M-6: a policy name of %j is an error at construction",
    (name) => {
      expect(() =>
        rateLimit({ policy: { ...fixedWindow({ limit: 1, window: 1 }), name } }),
      ).toThrow(expect.objectContaining({ code: "INVALID_POLICY" }));
    },
  );

  it("M-6: names are unique in a response: of two policies with one name the tighter is listed", async () => {
    const a = timed(fixedWindow({ limit: 5, window: "1m" }), { standardHeaders: "draft-11" });
    const b = timed(fixedWindow({ limit: 4, window: "1m" }), { standardHeaders: "draft-11" });
    const app = framework().use(a.limit, b.limit);
    const { headers } = await request(app).get("/");
    expect(headers["ratelimit-policy"]).toBe('"default";q=4;w=60');
    expect(headers.ratelimit).toBe('"default";r=3;t=40');
  });
});
