import { describe, expect, it, test } from "vitest";
import type { Decision } from "../../src/decision/decision.js";
import { RequestRecord } from "../../src/http/record.js";
import { fixedWindow, leakyBucket, slidingWindow } from "../../src/policy/builders.js";
import type { FailureMode } from "../../src/policy/policy.js";
import { type AskOptions, guardOf, limiterOf, storeElsewhere, told } from "./guarded.js";
import { headersOf } from "./made.js";
import { warningsDuring } from "./warned.js";

const minute = slidingWindow({ limit: 2, window: "1m" });

function one(options: AskOptions = {}, policy = minute as Parameters<typeof limiterOf>[0][string]) {
  const { clock, limiter } = limiterOf({ api: policy });
  return { clock, limiter, admit: guardOf(limiter, ["api"], options) };
}

describe("a guard over a store in this process", () => {
  it("gives its plan at once, without a promise", () => {
    const { admit } = one();
    expect([admit(), admit(), admit()].map((plan) => told(plan as never))).toEqual([
      "go 2/1",
      "go 2/0",
      "429 2/0 60",
    ]);
  });

  it("plans the body, no-store, and names to expose only for other origins", async () => {
    const { admit } = one({ exposeHeaders: true, cost: 2 });
    admit();
    const plan = await admit({ headers: { origin: "https://app.example" } });
    expect(plan).toMatchObject({
      action: "reject",
      status: 429,
      body: '{"error":{"code":"RATE_LIMITED","message":"Too many requests. Retry after 60 seconds."}}',
      expose: ["Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"],
    });
    expect(headersOf(plan)).toMatchObject({
      "cache-control": "no-store",
      "content-type": "application/json; charset=utf-8",
    });
    expect((await admit()).expose).toEqual([]);
    expect((await one().admit({ headers: { origin: "x" } })).expose).toEqual([]);
  });

  it("tells the delay of a leaky bucket", () => {
    const { admit } = one({}, leakyBucket({ limit: 1, window: "1s", queue: 2 }));
    expect([admit(), admit(), admit(), admit()]).toMatchObject([
      { action: "continue", delayMs: 0 },
      { action: "continue", delayMs: 1_000 },
      { action: "continue", delayMs: 2_000 },
      { action: "reject", status: 429 },
    ]);
  });
});

describe("a guard over a store elsewhere", () => {
  it("gives a promise of the same plans", async () => {
    const { limiter } = limiterOf({ api: minute }, storeElsewhere(true));
    const admit = guardOf(limiter, ["api"]);
    const plan = admit();
    expect(plan).toBeInstanceOf(Promise);
    expect(told(await plan)).toBe("go 2/1");
  });

  test.each<[FailureMode, string, string]>([
    ["local", "go 2/1", "local"],
    ["open", "go 2/-", "open"],
    ["closed", "503 2/- 1", "closed"],
  ])("S-3: that fails, in mode %s", async (onStoreFailure, expected, degraded) => {
    const decisions: Decision[] = [];
    const { limiter } = limiterOf({ api: { ...minute, onStoreFailure } }, storeElsewhere(false));
    const onDecision = (decision: Decision): void => void decisions.push(decision);
    const plan = await guardOf(limiter, ["api"], { onDecision })();
    expect(told(plan)).toBe(expected);
    expect(decisions.map((decision) => decision.degraded)).toEqual([degraded]);
  });

  it("S-3: tells the IETF fields of the policies that decided, and none when none did", async () => {
    const policies = {
      open: { ...minute, onStoreFailure: "open" as const },
      local: slidingWindow({ limit: 9, window: "1m" }),
    };
    const { limiter } = limiterOf(policies, storeElsewhere(false));
    const options = { standardHeaders: "draft-11" } as const;
    const mixed = headersOf(await guardOf(limiter, ["open", "local"], options)());
    expect(mixed.ratelimit).toBe('"local";r=8;t=60');
    expect(headersOf(await guardOf(limiter, ["open"], options)()).ratelimit).toBeUndefined();
  });
});

describe("who is let by", () => {
  const preflight = {
    method: "OPTIONS",
    headers: { origin: "o", "access-control-request-method": "PUT" },
  };

  test.each<[string, AskOptions, object]>([
    ["a preflight", {}, preflight],
    ["everybody when disabled", { enabled: false }, {}],
    ["whom skip names", { skip: () => true }, {}],
    ["whom skip names later", { skip: async () => true }, {}],
    ["whom the skip of each policy names", { skip: { api: () => true } }, {}],
    ["whom the skip of each policy names later", { skip: { api: async () => true } }, {}],
    ["an allowed address", { allow: { ip: ["203.0.113.0/24"] } }, {}],
    ["an allowed identity", { allow: { user: ["ada"] }, identify: () => ({ user: "ada" }) }, {}],
  ])("%s: uncounted and without fields", async (_name, options, request) => {
    const { admit } = one(options);
    for (let call = 0; call < 4; call += 1) {
      const plan = await admit(request);
      expect(plan).toEqual({
        action: "continue",
        headers: [],
        expose: [],
        decision: undefined,
        delayMs: 0,
      });
    }
  });

  test.each<[string, AskOptions, object]>([
    [
      "OPTIONS without Origin",
      {},
      { ...preflight, headers: { "access-control-request-method": "PUT" } },
    ],
    ["OPTIONS of no preflight", {}, { ...preflight, headers: { origin: "o" } }],
    ["GET with a preflight's headers", {}, { ...preflight, method: "GET" }],
    ["a preflight that is to be counted", { countPreflights: true }, preflight],
    ["whom skip does not name", { skip: () => false }, {}],
    ["whom skip names by something other than true", { skip: () => 1 as unknown as boolean }, {}],
    ["whom the skip of each policy names by that", { skip: { api: () => 1 as never } }, {}],
    ["another address", { allow: { ip: ["198.51.100.0/24"] } }, {}],
    ["another identity", { allow: { user: ["ada"] }, identify: () => ({ user: "grace" }) }, {}],
  ])("not %s", async (_name, options, request) => {
    const { admit } = one(options);
    expect(told(await admit(request))).toBe("go 2/1");
  });
});

describe("a choice of policies", () => {
  const policies = { a: minute, b: slidingWindow({ limit: 9, window: "1m" }) };

  test.each<[unknown, string]>([
    ["a", "go 2/1"],
    ["b", "go 9/8"],
    [["b", "a"], "go 2/1"],
    [Promise.resolve("b"), "go 9/8"],
    [false, "go -/-"],
    [Promise.resolve(false), "go -/-"],
  ])("of %j", async (choice, expected) => {
    const { limiter } = limiterOf(policies);
    expect(told(await guardOf(limiter, () => choice as "a")())).toBe(expected);
  });

  test.each([undefined, null, true, 0, "", "c", "toString", {}, [], ["a", "c"]])(
    "of %j is an error, not no limit",
    async (choice) => {
      const { limiter } = limiterOf(policies);
      await expect(async () => guardOf(limiter, () => choice as "a")()).rejects.toThrow(
        expect.objectContaining({ code: "UNKNOWN_POLICY" }),
      );
    },
  );

  it("says what was chosen instead", () => {
    const { limiter } = limiterOf(policies);
    expect(() => guardOf(limiter, () => undefined as never)()).toThrow(
      "policies: the function must choose names, or false for no limit, got undefined",
    );
    expect(() => guardOf(limiter, () => "c")()).toThrow(
      'policy "c" is not one of this limiter\'s: a, b',
    );
  });
});

describe("a cost", () => {
  const wide = slidingWindow({ limit: 10, window: "1m" });

  test.each<[unknown, string]>([
    [3, "go 10/7"],
    [{ api: 4 }, "go 10/6"],
    [{}, "go 10/9"],
    [() => 5, "go 10/5"],
    [async () => 6, "go 10/4"],
    [() => ({ api: 7 }), "go 10/3"],
    [() => ({ other: 7 }), "go 10/9"],
    [0, "go 10/10"],
    [10, "go 10/0"],
    [() => 11, "429 10/10"],
  ])("given as %s", async (cost, expected) => {
    const { admit } = one({ cost: cost as number }, wide);
    expect(told(await admit())).toBe(expected);
  });

  test.each<[FailureMode, string]>([
    ["local", "go 10/9"],
    ["open", "go 10/-"],
    ["closed", "503 10/- 1"],
  ])("that is wrong follows %s, and is told of", async (onStoreFailure, expected) => {
    for (const cost of [Number.NaN, -1, 1.5, "1", null, undefined, { api: null }]) {
      const decisions: Decision[] = [];
      const onDecision = (decision: Decision): void => void decisions.push(decision);
      const { admit } = one(
        { cost: () => cost as number, onDecision },
        { ...wide, onStoreFailure },
      );
      const warnings = await warningsDuring(async () => {
        expect(told(await admit())).toBe(expected);
      });
      expect(warnings).toEqual([
        expect.stringMatching(
          /^HEADGATE_COST: policy "api": cost must be an integer from 0, got .*; the policy's onStoreFailure applies$/,
        ),
      ]);
      if (onStoreFailure !== "local") expect(decisions[0]?.reason).toBe("wrong-cost");
    }
  });

  it("that is wrong for one policy leaves the other ones in force", async () => {
    const { limiter } = limiterOf({ api: minute, units: { ...wide, onStoreFailure: "open" } });
    const admit = guardOf(limiter, ["units", "api"], { cost: () => ({ units: Number.NaN }) });
    await warningsDuring(async () => {
      expect(told(await admit())).toBe("go 2/1");
    });
  });

  test.each([3, -1, 0.5, Number.NaN, { api: 3 }, { api: null }, { api: "1" }])(
    "that is constantly wrong is an error at construction: %j",
    (cost) => {
      expect(() => one({ cost: cost as number })).toThrow(
        /^policy "api": cost must be an integer from 0 to its capacity 2, got /,
      );
    },
  );

  it("of a choice must be right, and may exceed what some policy can admit", () => {
    const { limiter } = limiterOf({ api: minute });
    expect(() => guardOf(limiter, () => "api", { cost: -1 })).toThrow(
      'policy "api": cost must be an integer from 0, got -1',
    );
    expect(() => guardOf(limiter, () => "api", { cost: 3 })).not.toThrow();
  });

  it.each(["cost", "skip"] as const)(
    "%s by the name of no policy is an error at construction",
    (option) => {
      expect(() => one({ [option]: { other: option === "cost" ? 1 : () => true } })).toThrow(
        'policy "other" is not one of this limiter\'s: api',
      );
    },
  );
});

describe("a mount that can never work", () => {
  it("names no policy, or one that is not there, or two queues", () => {
    const queue = leakyBucket({ limit: 1, window: "1s", queue: 0 });
    const { limiter } = limiterOf({ a: queue, b: queue });
    expect(() => guardOf(limiter, [])).toThrow("limit: name at least one policy");
    expect(() => guardOf(limiter, ["c"])).toThrow('policy "c" is not one of this limiter\'s: a, b');
    expect(() => guardOf(limiter, ["a", "b"])).toThrow(
      'policies "a" and "b": a request can wait in one leaky bucket at most',
    );
  });
});

describe("a request without its key", () => {
  const perUser = { ...minute, by: "user" };

  test.each([
    ["ip", "ip=203.0.113.9"],
    ["shared", "shared="],
  ] as const)("is counted under %s", async (onMissingKey, subject) => {
    const { admit } = one({ onMissingKey }, perUser);
    await warningsDuring(async () => {
      const { decision } = await admit();
      expect(decision?.outcomes[0]?.receipt?.subject).toBe(subject);
    });
  });

  it("is let through under allow, and refused with 403 under deny, before anything is charged", async () => {
    const { limiter } = limiterOf({ perUser, api: minute });
    await warningsDuring(async () => {
      expect(await guardOf(limiter, ["perUser"], { onMissingKey: "allow" })()).toMatchObject({
        action: "continue",
        headers: [],
      });
      const denied = await guardOf(limiter, ["api", "perUser"], { onMissingKey: "deny" })();
      expect(told(denied)).toBe("403 -/-");
      expect(denied).toMatchObject({
        body: '{"error":{"code":"RATE_LIMIT_KEY_MISSING","message":"This request does not say who makes it, and its rate limit needs to know."}}',
        expose: [],
      });
      expect(headersOf(denied)["cache-control"]).toBe("no-store");
      expect(told(await guardOf(limiter, ["api"])())).toBe("go 2/1");
    });
  });

  it("and without an address shares one bucket, with one warning", async () => {
    const { admit } = one({}, perUser);
    const request = { address: undefined } as never;
    const warnings = await warningsDuring(async () => {
      expect([
        told(await admit(request)),
        told(await admit(request)),
        told(await admit(request)),
      ]).toEqual(["go 2/1", "go 2/0", "429 2/0 60"]);
    });
    expect(warnings.map((text) => text.split(":")[0])).toEqual([
      "HEADGATE_NO_IDENTITY",
      "HEADGATE_SHARED_KEY",
    ]);
  });

  it("warns of the order only while no identity has been seen at all", async () => {
    const { admit } = one({ identify: ({ user }) => ({ user: user as string }) }, perUser);
    const warnings = await warningsDuring(async () => {
      await admit({ user: "ada" });
      await admit({});
    });
    expect(warnings).toEqual([]);
  });

  it("identify is not asked where only addresses count", async () => {
    let asked = 0;
    const identify = (): undefined => {
      asked += 1;
    };
    await one({ identify }).admit();
    await one({ identify }, { ...minute, by: "global" }).admit();
    expect(asked).toBe(0);
    await one({ identify, allow: { user: ["ada"] } }).admit();
    expect(asked).toBe(1);
  });
});

describe("M-5: several mounts on one request", () => {
  it("report the tighter of what they show, and charge a policy once", async () => {
    const { limiter } = limiterOf({
      tight: minute,
      wide: slidingWindow({ limit: 9, window: "1m" }),
    });
    const record = new RequestRecord();
    expect(told(await guardOf(limiter, ["tight"])({}, record))).toBe("go 2/1");
    expect(told(await guardOf(limiter, ["wide"])({}, record))).toBe("go 2/1");
    const again = await guardOf(limiter, ["tight", "wide"])({}, record);
    expect(told(again)).toBe("go 2/1");
    expect(again).toMatchObject({ action: "continue", delayMs: 0 });
    expect(again.decision).toBe(record.decision);
    expect(record.decision?.outcomes.map(({ policy }) => policy.name)).toEqual(["tight", "wide"]);
  });

  it("X-13: what one mount hides does not show through another's fields, nor in its list", async () => {
    const { limiter } = limiterOf({
      hidden: minute,
      wide: slidingWindow({ limit: 9, window: "1m" }),
    });
    const record = new RequestRecord();
    const first = await guardOf(limiter, ["hidden"], { headers: false })({}, record);
    expect(first.headers).toEqual([]);
    const second = await guardOf(limiter, ["wide"], { standardHeaders: "draft-11" })({}, record);
    expect(told(second)).toBe("go 9/8");
    expect(headersOf(second).ratelimit).toBe('"wide";r=8;t=60');
    // The handler, which is no client, sees both.
    expect(record.decision?.limit).toBe(2);
  });

  it("keep the worst of their failure modes, and the first Limit when nobody knows more", async () => {
    const open = (limit: number) => ({
      ...slidingWindow({ limit, window: "1m" }),
      onStoreFailure: "open" as const,
    });
    const down = limiterOf({ a: open(3), b: open(4) }, storeElsewhere(false)).limiter;
    const up = limiterOf({ c: slidingWindow({ limit: 9, window: "1m" }) }).limiter;
    const record = new RequestRecord();
    expect(told(await guardOf(down, ["a"])({}, record))).toBe("go 3/-");
    expect(told(await guardOf(down, ["b"])({}, record))).toBe("go 3/-");
    expect(told(await guardOf(up, ["c"])({}, record))).toBe("go 9/8");
    expect(record.decision?.degraded).toBe("open");
    expect(told(await guardOf(down, ["a"])({}, new RequestRecord()))).toBe("go 3/-");
  });

  it("an inner refusal of a closed policy tells that one's Limit alone", async () => {
    const closed = { ...minute, onStoreFailure: "closed" as const };
    const down = limiterOf({ closed }, storeElsewhere(false)).limiter;
    const up = limiterOf({ c: fixedWindow({ limit: 9, window: "1m" }) }).limiter;
    const record = new RequestRecord();
    await guardOf(up, ["c"])({}, record);
    const plan = await guardOf(down, ["closed"])({}, record);
    expect(told(plan)).toBe("503 2/- 1");
    // Fields that the outer limiter has set are taken back.
    expect(plan.headers).toContainEqual(["X-RateLimit-Remaining", undefined]);
    expect(plan.headers).toContainEqual(["X-RateLimit-Reset", undefined]);
  });
});

describe("errors of the application", () => {
  const fail = (): never => {
    throw new Error("its own");
  };
  const reject = async (): Promise<never> => fail();

  test.each<[string, AskOptions]>([
    ["skip", { skip: fail }],
    ["skip, later", { skip: reject }],
    ["skip of a policy", { skip: { api: fail } }],
    ["skip of a policy, later", { skip: { api: reject } }],
    ["identify", { identify: fail }],
    ["identify, later", { identify: reject }],
    ["cost", { cost: fail }],
    ["cost, later", { cost: reject }],
  ])("in %s are thrown or rejected, and count nothing", async (_name, options) => {
    const { limiter } = limiterOf({ api: { ...minute, by: ["ip", "user"] } });
    await expect(async () => guardOf(limiter, ["api"], options)()).rejects.toThrow("its own");
    const sound = guardOf(limiter, ["api"], { identify: () => ({ user: "ada" }) });
    expect(told(await sound())).toBe("go 2/1");
  });

  it("in onDecision change nothing, now or later", async () => {
    for (const onDecision of [fail, reject]) {
      const { admit } = one({ onDecision: onDecision as () => void });
      const warnings = await warningsDuring(async () => {
        expect(told(await admit())).toBe("go 2/1");
        await new Promise((resolve) => setTimeout(resolve, 0));
      });
      expect(warnings).toEqual(["HEADGATE_LISTENER: onDecision threw: its own"]);
    }
  });

  it("thenables are taken for promises", async () => {
    // biome-ignore lint/suspicious/noThenProperty: what is tested is a thenable
    const two = { then: (resolve: (value: number) => void) => resolve(2) };
    const { admit } = one({ cost: () => two as PromiseLike<number> });
    expect(told(await admit())).toBe("go 2/0");
  });
});
