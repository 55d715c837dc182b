import {
  createLimiter,
  type FailureMode,
  fixedWindow,
  leakyBucket,
  memoryStore,
  slidingWindow,
} from "@headgate/core";
import { ManualClock } from "@headgate/core/testing";
import request from "supertest";
import { describe, expect, it, test } from "vitest";
import { decisionOf, type RateLimitOptions, rateLimit, rateLimits } from "../src/index.js";
import { FailingStore } from "./failing-store.js";
import {
  type Framework,
  frameworks,
  startMs,
  type TimedOptions,
  timed,
  warningsDuring,
} from "./servers.js";

const minute = fixedWindow({ limit: 5, window: "1m" });

function appOf(
  framework: Framework,
  options: TimedOptions = {},
  policy = minute as Parameters<typeof timed>[0],
) {
  const { clock, limit } = timed(policy, options);
  const app = framework().use(limit);
  app.get("/", (req, response) => void response.json(decisionOf(req) ?? null));
  const get = async (path = "/") => request(app).get(path);
  const told = async (path = "/") => {
    const { status, headers } = await get(path);
    return `${status} ${headers["x-ratelimit-remaining"]}`;
  };
  return { clock, get, told };
}

describe.each(frameworks)("%s", (_, framework) => {
  it("ten calls in one tick at limit 5: five pass, each told its own count", async () => {
    const { told } = appOf(framework);
    const answers = await Promise.all(Array.from({ length: 10 }, () => told()));
    expect(answers.sort()).toEqual([
      "200 0",
      "200 1",
      "200 2",
      "200 3",
      "200 4",
      ...Array(5).fill("429 0"),
    ]);
  });

  it("decisions are not changed by later requests", async () => {
    const kept: unknown[] = [];
    const { get } = appOf(framework, { onDecision: (decision) => kept.push(decision) });
    await get();
    const first = structuredClone(kept[0]);
    await get();
    expect(kept[0]).toEqual(first);
  });

  it("a refused dear request eats nothing", async () => {
    const { told } = appOf(framework, { cost: (req) => Number(req.query.cost ?? 1) });
    expect([
      await told("/?cost=4"),
      await told("/?cost=2"),
      await told("/?cost=2"),
      await told(),
    ]).toEqual(["200 1", "429 1", "429 1", "200 0"]);
  });

  it("a client that never stops trying gets out as soon as one that waits", async () => {
    const { clock, told } = appOf(framework, {}, slidingWindow({ limit: 1, window: "10s" }));
    await told();
    for (let call = 0; call < 9; call += 1) {
      clock.advance(1_000);
      expect(await told()).toBe("429 0");
    }
    clock.advance(1_000);
    expect(await told()).toBe("200 0");
  });

  it("a window longer than a timer can wait still limits", async () => {
    const { clock, told } = appOf(
      framework,
      {},
      fixedWindow({ limit: 1, window: "60d", anchor: "first-request" }),
    );
    expect(await told()).toBe("200 0");
    clock.advance(59 * 86_400_000);
    expect(await told()).toBe("429 0");
    clock.advance(86_400_000);
    expect(await told()).toBe("200 0");
  });

  it("a window of milliseconds is not rounded to seconds", async () => {
    const { clock, told } = appOf(
      framework,
      {},
      fixedWindow({ limit: 1, window: 250, anchor: "first-request" }),
    );
    await told();
    clock.advance(249);
    expect(await told()).toBe("429 0");
    clock.advance(1);
    expect(await told()).toBe("200 0");
  });

  const rubbish: readonly unknown[] = [
    Number.NaN,
    Infinity,
    -1,
    0.5,
    "3",
    null,
    undefined,
    true,
    {},
    [],
    2 ** 53,
    10n,
    () => 1,
  ];

  test.each<[FailureMode, string, string | undefined]>([
    ["local", "200", "4"],
    ["open", "200", undefined],
    ["closed", "503", undefined],
  ])(
    "a cost that is rubbish follows the failure mode %s, and never poisons the key",
    async (mode, status, remaining) => {
      for (const cost of rubbish) {
        let wrong = true;
        const { get, told } = appOf(
          framework,
          { cost: (() => (wrong ? cost : 1)) as () => number },
          { ...minute, onStoreFailure: mode },
        );
        const warnings = await warningsDuring(async () => {
          const response = await get();
          // An empty object names no policy, so each costs 1.
          const isRight = typeof cost === "object" && cost !== null;
          expect(String(response.status)).toBe(isRight ? "200" : status);
          expect(response.headers["x-ratelimit-remaining"]).toBe(isRight ? "4" : remaining);
          expect(response.headers["x-ratelimit-limit"]).toBe("5");
        });
        expect(warnings.every((text) => text.startsWith("HEADGATE_COST"))).toBe(true);
        wrong = false;
        expect(await told()).toMatch(/^200 [34]$/);
      }
    },
  );

  it("a cost by name that is rubbish concerns that policy alone", async () => {
    const limiter = createLimiter({
      clock: new ManualClock(startMs),
      policies: {
        calls: minute,
        units: fixedWindow({ limit: 100, window: "1m", onStoreFailure: "open" }),
      },
    });
    for (const units of [Number.NaN, null, "7"]) {
      const cost = () => ({ calls: 2, units: units as number });
      const app = framework().use(rateLimits({ limiter, cost })("calls", "units"));
      app.get(
        "/",
        (req, response) =>
          void response.json(
            decisionOf(req)?.outcomes.map(({ policy, cost }) => [policy.name, cost]),
          ),
      );
      await warningsDuring(async () => {
        const { status, body } = await request(app).get("/");
        if (status === 200) expect(body).toEqual([["calls", 2]]);
      });
    }
  });

  test.each<[string, Partial<RateLimitOptions>]>([
    ["NaN", { cost: Number.NaN }],
    ["a fraction", { cost: 1.5 }],
    ["below 0", { cost: -1 }],
    ["text", { cost: "1" as never }],
    ["above the capacity", { cost: 6 }],
    ["by name, above the capacity", { cost: { default: 6 } as never }],
    ["by name, NaN", { cost: { default: Number.NaN } as never }],
    ["null by name", { cost: { default: null } as never }],
    ["for another policy", { cost: { other: 1 } as never }],
  ])("a constant cost that is %s is an error at construction", (_name, options) => {
    expect(() => rateLimit({ policy: minute, ...options })).toThrow(
      expect.objectContaining({
        name: "HeadgateError",
        message: expect.stringMatching(/cost|other/),
      }),
    );
    // A choice of policies is made later; what no request can pay is wrong now.
    if (options.cost !== 6 && JSON.stringify(options.cost) !== '{"default":6}')
      expect(() =>
        rateLimit({ policies: { default: minute }, policy: () => "default", ...options } as never),
      ).toThrow(/cost|other/);
  });

  describe("skip", () => {
    it("for the middleware leaves the request uncounted, now or later", async () => {
      const { told } = appOf(framework, {
        skip: (req) =>
          req.query.later === undefined ? req.query.skip === "1" : Promise.resolve(true),
      });
      expect([await told("/?skip=1"), await told("/?later"), await told()]).toEqual([
        "200 undefined",
        "200 undefined",
        "200 4",
      ]);
    });

    it("by policy leaves that one out, and the others count", async () => {
      const limiter = createLimiter({
        clock: new ManualClock(startMs),
        policies: { a: minute, b: fixedWindow({ limit: 9, window: "1m" }) },
      });
      const limit = rateLimits({ limiter, skip: { a: async () => true } });
      const app = framework().use(limit("a", "b"));
      app.get("/", (_request, response) => void response.end());
      const { headers } = await request(app).get("/");
      expect(headers["x-ratelimit-limit"]).toBe("9");
    });

    it("only true skips: other values must not open the gate", async () => {
      const { told } = appOf(framework, { skip: () => "yes" as unknown as boolean });
      expect(await told()).toBe("200 4");
    });

    it("for a policy that is not there is an error at construction", () => {
      expect(() => rateLimit({ policy: minute, skip: { other: () => true } })).toThrow(
        /"other" is not one of this limiter's/,
      );
    });
  });

  it("enabled: false lets everything through uncounted, asking none of the application's functions", async () => {
    const fail = (): never => {
      throw new Error("must not be asked");
    };
    const { get } = appOf(framework, { enabled: false, skip: fail, key: fail, cost: fail });
    for (let call = 0; call < 9; call += 1) expect((await get()).status).toBe(200);
    expect((await get()).body).toBeNull();
  });

  it("a function chooses the policy by request, now or later, and false means no limit", async () => {
    const policies = {
      free: fixedWindow({ limit: 2, window: "1m" }),
      pro: fixedWindow({ limit: 7, window: "1m" }),
    };
    const limit = rateLimit({
      policies,
      policy: (req) =>
        req.query.tier === "staff"
          ? false
          : req.query.tier === "pro"
            ? Promise.resolve("pro")
            : ["free"],
    });
    const app = framework().use(limit);
    app.get("/", (_request, response) => void response.end());
    const limits: unknown[] = [];
    for (const tier of ["free", "pro", "staff"])
      limits.push((await request(app).get(`/?tier=${tier}`)).headers["x-ratelimit-limit"]);
    expect(limits).toEqual(["2", "7", undefined]);
  });

  it("one policy named twice is one, and of two queues that a function chooses the first counts", async () => {
    const clock = new ManualClock(startMs);
    const limiter = createLimiter({
      clock,
      policies: {
        a: leakyBucket({ limit: 1, window: "1s", queue: 0 }),
        b: leakyBucket({ limit: 1, window: "1s", queue: 0 }),
      },
    });
    expect(() => rateLimits({ limiter })("a", "b")).toThrow(
      'policies "a" and "b": a request can wait in one leaky bucket at most',
    );
    const app = framework()
      .set("env", "test")
      .use(rateLimits({ limiter })(() => ["a", "b"]))
      .get("/", (_request, response) => void response.end());
    const warnings = await warningsDuring(async () => {
      expect((await request(app).get("/")).status).toBe(200);
      expect((await request(app).get("/")).status).toBe(429);
    });
    expect(warnings).toEqual([expect.stringContaining('policies "a" and "b"')]);
    expect(limiter.peek("b", { ip: "127.0.0.1" }).remaining).toBe(1);
    clock.advance(1_000);
    const twice = rateLimits({ limiter })("a", "a");
    expect((await request(framework().use(twice)).get("/")).headers["x-ratelimit-remaining"]).toBe(
      "0",
    );
  });

  it("a shared store counts over applications, and limiters of their own do not meet", async () => {
    const clock = new ManualClock(startMs);
    const store = memoryStore({ clock });
    const shared = () => appOf(framework, { store, clock });
    expect([await shared().told(), await shared().told()]).toEqual(["200 4", "200 3"]);
    expect(await appOf(framework).told()).toBe("200 4");
  });

  it("onDecision is told each decision of its own, allowed and refused, with the request", async () => {
    const seen: string[] = [];
    const { get } = appOf(
      framework,
      {
        onDecision: ({ allowed, policy }, req) =>
          seen.push(`${policy.name} ${allowed} ${req.path}`),
      },
      fixedWindow({ limit: 1, window: "1m", name: "api" }),
    );
    await get();
    await get();
    expect(seen).toEqual(["api true /", "api false /"]);
  });

  it("decisionOf tells the decision over all limiters so far, and undefined where none took part", async () => {
    const outer = timed(fixedWindow({ name: "outer", limit: 9, window: "1m" }));
    const inner = rateLimit({
      policy: fixedWindow({ name: "inner", limit: 2, window: "1m", onStoreFailure: "open" }),
      store: new FailingStore(),
      onStoreError: () => {},
    });
    const app = framework();
    app.get("/none", (req, response) => void response.json(decisionOf(req) === undefined));
    app.use(outer.limit, inner);
    app.get(
      "/both",
      (req, response) =>
        void response.json({
          name: decisionOf(req)?.policy.name,
          degraded: decisionOf(req)?.degraded,
        }),
    );
    expect((await request(app).get("/none")).body).toBe(true);
    expect((await request(app).get("/both")).body).toEqual({ name: "outer", degraded: "open" });
  });
});

describe("what cannot work is an error at construction", () => {
  const limiter = createLimiter({ policies: { minute } });

  test.each<[string, () => unknown, RegExp]>([
    ["no options", () => rateLimit(undefined as never), /^rateLimit: give policy/],
    [
      "options of another package",
      () => rateLimit({ windowMs: 60_000, max: 5 } as never),
      /^rateLimit: give policy/,
    ],
    [
      "an unknown option",
      () => rateLimit({ policy: minute, max: 5 } as never),
      /^max: there is no option of that name/,
    ],
    [
      "a name on Object.prototype",
      () => rateLimit({ policy: minute, constructor: 1 } as never),
      /^constructor: there is no option/,
    ],
    [
      "a policy's name instead of a policy",
      () => rateLimit({ policies: { minute }, policy: "minute" } as never),
      /^rateLimit: give policy/,
    ],
    [
      "policies without a choice",
      () => rateLimit({ policies: { minute } } as never),
      /^rateLimit: give policy/,
    ],
    [
      "a choice without policies",
      () => rateLimit({ policy: () => "minute" } as never),
      /^rateLimit: give policy/,
    ],
    [
      "a policy made by hand",
      () => rateLimit({ policy: { limit: 5, windowMs: 1 } as never }),
      /algorithm/,
    ],
    [
      "a key that is no function",
      () => rateLimit({ policy: minute, key: "user" as never }),
      /^rateLimit: key must be a function/,
    ],
    [
      "identify that is no function",
      () => rateLimit({ policy: minute, identify: {} as never }),
      /^identify: must be a function, got an object/,
    ],
    [
      "no store",
      () => rateLimit({ policy: minute, store: null as never }),
      /store must be a store/,
    ],
    ["no clock", () => rateLimit({ policy: minute, clock: null as never }), /clock/],
    [
      "a deadline of 0",
      () => rateLimit({ policy: minute, deadlineMs: 0 }),
      /deadlineMs must be an integer/,
    ],
    [
      "ip of another kind",
      () => rateLimit({ policy: minute, ip: "x-real-ip" as never }),
      /^ip: must be/,
    ],
    [
      "onMissingKey of another kind",
      () => rateLimit({ policy: minute, onMissingKey: "ignore" as never }),
      /^onMissingKey: must be one of "ip", "shared", "allow", "deny", got "ignore"/,
    ],
    [
      "a body of another kind",
      () => rateLimit({ policy: minute, body: { error: 1 } as never }),
      /^body: must be "json", "problem" or a function/,
    ],
    [
      "enabled that is text",
      () => rateLimit({ policy: minute, enabled: "false" as never }),
      /^enabled: must be true or false, got "false"/,
    ],
    ["no limiter", () => rateLimits({} as never), /^rateLimits: limiter must be/],
    [
      "an unknown shared option",
      () => rateLimits({ limiter, max: 1 } as never),
      /^max: there is no option/,
    ],
    [
      "a policy that is not there",
      () => rateLimits({ limiter })("nope" as never),
      /^policy "nope" is not one of this limiter's: minute/,
    ],
    [
      "a name on the prototype",
      () => rateLimits({ limiter })("toString" as never),
      /^policy "toString" is not one/,
    ],
    [
      "no name at all",
      () => (rateLimits({ limiter }) as unknown as () => unknown)(),
      /name at least one policy/,
    ],
    [
      "a list instead of names",
      () => rateLimits({ limiter })(["minute"] as never),
      /there is no option of that name|name at least one policy/,
    ],
    [
      "an unknown option of a mount",
      () => rateLimits({ limiter })("minute", { max: 1 } as never),
      /^max: there is no option/,
    ],
  ])("%s", (_name, make, message) => {
    expect(make).toThrow(
      expect.objectContaining({ name: "HeadgateError", message: expect.stringMatching(message) }),
    );
  });

  it("an option that is undefined counts as left out", () => {
    const unset = {
      store: undefined,
      clock: undefined,
      key: undefined,
      ip: undefined,
      cost: undefined,
      skip: undefined,
      status: undefined,
      allow: undefined,
    };
    expect(() => rateLimit({ policy: minute, ...(unset as object) })).not.toThrow();
  });
});
