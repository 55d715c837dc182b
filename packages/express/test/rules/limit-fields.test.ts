import {
  createLimiter,
  fixedWindow,
  leakyBucket,
  slidingWindow,
  tokenBucket,
} from "@headgate/core";
import { ManualClock } from "@headgate/core/testing";
import { parseRateLimit } from "ratelimit-header-parser";
import { parseItem } from "structured-headers";
import request from "supertest";
import { describe, expect, it, test } from "vitest";
import { rateLimit, rateLimits } from "../../src/index.js";
import {
  type Framework,
  frameworks,
  holdNoTime,
  startMs,
  type TimedOptions,
  timed,
} from "../servers.js";

function appOf(framework: Framework, ...[policy, options]: Parameters<typeof timed>) {
  const { clock, limit } = timed(policy, options);
  const app = framework().use(limit);
  app.get("/", (_request, response) => void response.end());
  return { clock, get: (path = "/") => request(app).get(path) };
}

const minute = fixedWindow({ limit: 2, window: "1m" });

describe.each(frameworks)("%s", (_, framework) => {
  it("X-2: values are strings of decimal digits, as the response object holds them too", async () => {
    const { limit } = timed(minute);
    const app = framework().use(limit);
    let held: unknown;
    let parsed: unknown;
    app.get("/", (_request, response) => {
      held = ["limit", "remaining", "reset"].map((name) =>
        response.getHeader(`x-ratelimit-${name}`),
      );
      parsed = parseRateLimit(response);
      response.end();
    });
    await request(app).get("/");
    expect(held).toEqual(["2", "1", "1700000040"]);
    expect(parsed).toMatchObject({ limit: 2, remaining: 1 });
  });

  test.each([
    ["the largest limit that is exact", fixedWindow({ limit: 2 ** 52 - 1, window: 1 })],
    ["the longest window", fixedWindow({ limit: 1, window: 2 ** 51 })],
  ])(
    "X-3: no exponent, no fraction, within a structured field's integers: %s",
    async (_name, policy) => {
      const { get } = appOf(framework, policy);
      const { headers } = await get();
      for (const name of ["limit", "remaining", "reset"]) {
        const text = headers[`x-ratelimit-${name}`] as string;
        expect(text).toMatch(/^\d{1,15}$/);
        expect(Number.isInteger(parseItem(text)[0])).toBe(true);
      }
    },
  );

  it("X-3: a caller to whom no policy applies gets no field", async () => {
    const limit = rateLimit({ policies: { free: minute }, policy: () => false });
    const app = framework().use(limit);
    const { headers } = await request(app).get("/");
    expect(Object.keys(headers).filter((name) => name.startsWith("x-ratelimit"))).toEqual([]);
  });

  it("X-4: Remaining is exactly 0 on a denial of cost 1", async () => {
    for (const policy of [
      minute,
      slidingWindow({ limit: 2, window: "1m" }),
      tokenBucket({ limit: 3, window: "10s", burst: 2 }),
    ]) {
      const { clock, get } = appOf(framework, policy);
      await get();
      await get();
      clock.advance(17);
      const { status, headers } = await get();
      expect([status, headers["x-ratelimit-remaining"]]).toEqual([429, "0"]);
    }
  });

  it("X-4: a dearer request that is refused still learns what cheaper ones have left", async () => {
    const { get } = appOf(framework, fixedWindow({ limit: 5, window: "1m" }), {
      cost: (req) => Number(req.query.cost ?? 1),
    });
    await get();
    const refused = await get("/?cost=5");
    expect([refused.status, refused.headers["x-ratelimit-remaining"]]).toEqual([429, "4"]);
    expect((await get("/?cost=4")).status).toBe(200);
  });

  it("X-6: Reset is epoch seconds of full restoration, rounded up", async () => {
    const { clock, get } = appOf(
      framework,
      fixedWindow({ limit: 5, window: "1m", anchor: "first-request" }),
    );
    await get();
    clock.advance(18_999);
    expect((await get()).headers["x-ratelimit-reset"]).toBe(
      String(Math.ceil((startMs + 60_000) / 1000)),
    );
  });

  it("X-8: Reset is never in the past, even on an untouched key", async () => {
    const { get } = appOf(framework, minute, { cost: 0 });
    const { headers } = await get();
    expect([headers["x-ratelimit-remaining"], headers["x-ratelimit-reset"]]).toEqual([
      "2",
      String(Math.ceil(startMs / 1000)),
    ]);
  });

  it("X-9: skipped, allow-listed and disabled requests carry none of the fields; a peek carries them", async () => {
    const fieldsWith = async (options: TimedOptions) => {
      const { get } = appOf(framework, minute, { standardHeaders: "draft-11", ...options });
      return Object.keys((await get()).headers).filter((name) => name.includes("ratelimit"));
    };
    expect(await fieldsWith({ skip: () => true })).toEqual([]);
    expect(await fieldsWith({ skip: { default: async () => true } })).toEqual([]);
    expect(await fieldsWith({ allow: { ip: ["127.0.0.0/8"] } })).toEqual([]);
    expect(await fieldsWith({ enabled: false })).toEqual([]);
    expect(await fieldsWith({ cost: 0 })).toHaveLength(5);
  });

  it("X-9: a peek counts nothing, and is refused once the limit is spent only if it would be", async () => {
    const { get } = appOf(framework, minute, { cost: (req) => Number(req.query.cost ?? 1) });
    for (let look = 0; look < 5; look += 1)
      expect((await get("/?cost=0")).headers["x-ratelimit-remaining"]).toBe("2");
    await get();
    await get();
    expect((await get("/?cost=0")).status).toBe(200);
  });

  it("X-10: Limit is the capacity: N, the burst, or the queue and the one that leaves", async () => {
    holdNoTime();
    const limitOf = async (policy: Parameters<typeof timed>[0]) =>
      (await appOf(framework, policy).get()).headers["x-ratelimit-limit"];
    expect(await limitOf(fixedWindow({ limit: 7, window: "1m" }))).toBe("7");
    expect(await limitOf(tokenBucket({ limit: 7, window: "1m", burst: 3 }))).toBe("3");
    expect(await limitOf(leakyBucket({ limit: 7, window: "1m", queue: 1 }))).toBe("2");
  });

  it("X-11: the prefix can be another HTTP token", async () => {
    const { get } = appOf(framework, minute, { headerPrefix: "X-Rate-Limit" });
    const { headers } = await get();
    expect(Object.keys(headers).filter((name) => name.startsWith("x-rate"))).toEqual([
      "x-rate-limit-limit",
      "x-rate-limit-remaining",
      "x-rate-limit-reset",
    ]);
  });

  test.each(["", " ", "X RateLimit", "X-RateLimit:", "X\r\nSet-Cookie", "X-Límit", 7, null])(
    "X-11: a prefix of %j is an error at construction",
    (headerPrefix) => {
      expect(() => rateLimit({ policy: minute, headerPrefix: headerPrefix as string })).toThrow(
        expect.objectContaining({
          code: "INVALID_OPTION",
          message: expect.stringMatching(/^headerPrefix: must be /),
        }),
      );
    },
  );

  it("X-12: an inner limiter's fields are merged with an outer one's, each sent once", async () => {
    const outer = timed(fixedWindow({ name: "outer", limit: 3, window: "1m" }));
    const inner = timed(fixedWindow({ name: "inner", limit: 100, window: "1m" }));
    const app = framework().use(outer.limit, inner.limit);
    app.get("/", (_request, response) => void response.end());
    const { headers } = await request(app).get("/");
    expect(headers["x-ratelimit-limit"]).toBe("3");
    expect(headers["x-ratelimit-remaining"]).toBe("2");
    expect(headers["x-ratelimit-reset"]).toBe("1700000040");
  });

  it("X-13: the fields can be switched off; status, Retry-After and body stay", async () => {
    const { get } = appOf(framework, minute, { headers: false });
    const first = await get();
    await get();
    const refused = await get();
    for (const { headers } of [first, refused])
      expect(Object.keys(headers).filter((name) => name.includes("ratelimit"))).toEqual([]);
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "40"]);
  });

  it("X-13: numbers that are switched off do not show through another limiter's fields", async () => {
    const limiter = createLimiter({
      clock: new ManualClock(startMs),
      policies: {
        account: fixedWindow({ limit: 2, window: "1m", by: "account" }),
        wide: fixedWindow({ limit: 100, window: "1m" }),
      },
    });
    const limit = rateLimits({ limiter, identify: () => ({ account: "ada" }) });
    for (const order of ["account first", "account last"]) {
      const steps = [limit("account", { headers: false }), limit("wide")];
      const app = framework().use(...(order === "account first" ? steps : steps.reverse()));
      app.get("/", (_request, response) => void response.end());
      const { status, headers } = await request(app).get("/");
      expect([status, headers["x-ratelimit-limit"]]).toEqual([200, "100"]);
    }
  });
});
