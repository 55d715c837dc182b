import {
  createLimiter,
  fixedWindow,
  leakyBucket,
  type PolicyDefinition,
  slidingWindow,
  slidingWindowCounter,
  tokenBucket,
} from "@headgate/core";
import { ManualClock } from "@headgate/core/testing";
import { type Item, parseList } from "structured-headers";
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

const minute = fixedWindow({ limit: 5, window: "1m" });

function appOf(framework: Framework, policy: PolicyDefinition, options: TimedOptions = {}) {
  holdNoTime();
  const { clock, limit } = timed(policy, { standardHeaders: "draft-11", ...options });
  const app = framework().use(limit);
  app.get("/", (_request, response) => void response.end());
  app.get("/elsewhere", (_request, response) => response.redirect("/"));
  return { clock, get: (path = "/") => request(app).get(path) };
}

/** The members of a list as `{ name: parameters }`, types checked by an independent parser. */
function membersOf(text: string): Record<string, Record<string, unknown>> {
  const members = parseList(text) as Item[];
  return Object.fromEntries(
    members.map(([name, parameters]) => {
      expect(typeof name).toBe("string");
      for (const value of parameters.values()) {
        expect(Number.isInteger(value)).toBe(true);
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(999_999_999_999_999);
      }
      return [name, Object.fromEntries(parameters)];
    }),
  );
}

describe.each(frameworks)("%s", (_, framework) => {
  it("I-1: the fields are not sent by default", async () => {
    const { get } = appOf(framework, minute, { standardHeaders: false });
    const names = Object.keys((await get()).headers);
    expect(names.filter((name) => name.startsWith("ratelimit"))).toEqual([]);
  });

  test.each([true, "draft-6", "draft-7", "draft-8", "draft-12", "", 11, null])(
    "I-1: standardHeaders %j is an error, since it names no revision that is spoken",
    (standardHeaders) => {
      expect(() =>
        rateLimit({ policy: minute, standardHeaders: standardHeaders as false }),
      ).toThrow(/^standardHeaders: must be one of false, "draft-11", got /);
    },
  );

  it("I-2: draft-11 has the wire form of the revisions 08 to 11, without a third field", async () => {
    const { get } = appOf(framework, minute);
    const { headers } = await get();
    expect(Object.keys(headers).filter((name) => name.startsWith("ratelimit"))).toEqual([
      "ratelimit-policy",
      "ratelimit",
    ]);
    expect(membersOf(headers["ratelimit-policy"] as string)).toEqual({ default: { q: 5, w: 60 } });
    expect(membersOf(headers.ratelimit as string)).toEqual({ default: { r: 4, t: 40 } });
  });

  it("I-3: members are joined by a comma and a space, parameters by no space", async () => {
    const clock = new ManualClock(startMs);
    const limiter = createLimiter({
      clock,
      policies: {
        burst: slidingWindow({ limit: 10, window: "1s" }),
        daily: slidingWindow({ limit: 1000, window: "1d" }),
      },
    });
    const limit = rateLimits({ limiter, standardHeaders: "draft-11" });
    const app = framework().use(limit("burst", "daily", { cost: { burst: 7, daily: 998 } }));
    const { headers } = await request(app).get("/");
    expect(headers["ratelimit-policy"]).toBe('"burst";q=10;w=1, "daily";q=1000;w=86400');
    expect(headers.ratelimit).toBe('"burst";r=3;t=1, "daily";r=2;t=86400');
  });

  test.each([
    ["fixed window", fixedWindow({ limit: 10, window: 200 }), { q: 10, w: 1 }],
    ["sliding window", slidingWindow({ limit: 10, window: 1_001 }), { q: 10, w: 2 }],
    ["sliding window counter", slidingWindowCounter({ limit: 10, window: "1m" }), { q: 10, w: 60 }],
    [
      "token bucket, from empty to full",
      tokenBucket({ limit: 1, window: "1s", burst: 20 }),
      { q: 20, w: 20 },
    ],
    [
      "token bucket, rounded up",
      tokenBucket({ limit: 3, window: "1s", burst: 10 }),
      { q: 10, w: 4 },
    ],
    ["leaky bucket", leakyBucket({ limit: 2, window: "3s", queue: 4 }), { q: 5, w: 8 }],
    [
      "a long one",
      fixedWindow({ limit: 1, window: 2 ** 51 }),
      { q: 1, w: Math.ceil(2 ** 51 / 1000) },
    ],
  ])(
    "I-5: w never promises a faster rate than the true one: %s",
    async (_name, policy, expected) => {
      const { get } = appOf(framework, policy);
      const { headers } = await get();
      expect(membersOf(headers["ratelimit-policy"] as string)).toEqual({ default: expected });
    },
  );

  it("I-6: t is the time until more, at least 1, and omitted when the policy is full", async () => {
    const { clock, get } = appOf(framework, tokenBucket({ limit: 1, window: "10s", burst: 3 }), {
      cost: (req) => Number(req.query.cost ?? 1),
    });
    expect((await get("/?cost=0")).headers.ratelimit).toBe('"default";r=3');
    await get();
    expect((await get()).headers.ratelimit).toBe('"default";r=1;t=10');
    clock.advance(9_500);
    expect((await get("/?cost=0")).headers.ratelimit).toBe('"default";r=1;t=1');
  });

  it("I-6: for a fixed window t is its end", async () => {
    const { get } = appOf(framework, minute);
    expect((await get()).headers.ratelimit).toBe('"default";r=4;t=40');
  });

  it("I-7: r is what remains after counting, rounded down", async () => {
    const { clock, get } = appOf(framework, tokenBucket({ limit: 1, window: "1s", burst: 5 }));
    await get();
    clock.advance(999);
    expect((await get()).headers.ratelimit).toBe('"default";r=3;t=1');
  });

  it("I-9: on a refusal no violated policy's t exceeds Retry-After", async () => {
    for (const policy of [
      minute,
      slidingWindow({ limit: 5, window: 61_234 }),
      slidingWindowCounter({ limit: 5, window: 61_234 }),
      tokenBucket({ limit: 5, window: 61_234 }),
      slidingWindow({ limit: 5, window: "30d" }),
    ]) {
      const { clock, get } = appOf(framework, policy);
      for (let call = 0; call < 5; call += 1) {
        await get();
        clock.advance(7);
      }
      const { status, headers } = await get();
      expect(status).toBe(429);
      const { t, r } = membersOf(headers.ratelimit as string).default as { t: number; r: number };
      expect(r).toBe(0);
      expect(t).toBeLessThanOrEqual(Number(headers["retry-after"]));
    }
  });

  it("I-11: there are no parameters beyond q, w, r and t, and no trailers", async () => {
    const { get } = appOf(framework, minute);
    const { headers } = await get();
    const parameters = [
      ...Object.keys(membersOf(headers["ratelimit-policy"] as string).default ?? {}),
      ...Object.keys(membersOf(headers.ratelimit as string).default ?? {}),
    ];
    expect(parameters).toEqual(["q", "w", "r", "t"]);
    expect(headers.trailer).toBeUndefined();
  });

  it("I-12: Express sets the fields before the status is known, so a redirect has them, and X-RateLimit too", async () => {
    const { get } = appOf(framework, minute);
    const { status, headers } = await get("/elsewhere").redirects(0);
    expect(status).toBe(302);
    expect(headers["x-ratelimit-remaining"]).toBe("4");
    expect(headers.ratelimit).toBe('"default";r=4;t=40');
  });

  test.each([
    minute,
    slidingWindow({ limit: 2 ** 40, window: 2 ** 12 }),
    leakyBucket({ limit: 7, window: "1s", queue: 0 }),
  ])(
    "I-14: every value is what an independent parser calls a list of strings with integers (I-4)",
    async (policy) => {
      const { get } = appOf(framework, policy);
      for (let call = 0; call < 7; call += 1) {
        const { headers } = await get();
        expect(Object.keys(membersOf(headers["ratelimit-policy"] as string))).toEqual(["default"]);
        expect(Object.keys(membersOf(headers.ratelimit as string))).toEqual(["default"]);
      }
    },
  );
});
