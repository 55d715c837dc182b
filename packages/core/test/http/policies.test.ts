import { describe, expect, it, test } from "vitest";
import type { Decision } from "../../src/decision/decision.js";
import type { HeadgateError } from "../../src/errors.js";
import { RequestRecord } from "../../src/http/record.js";
import { createLimiter } from "../../src/limiter/limiter.js";
import { bans, refund } from "../../src/policies/index.js";
import { fixedWindow, leakyBucket, tokenBucket } from "../../src/policy/builders.js";
import type { FailureMode, PolicyDefinition } from "../../src/policy/policy.js";
import { memoryStore } from "../../src/store/memory/memory-store.js";
import { type Ask, type AskOptions, guardOf, limiterOf, storeElsewhere, told } from "./guarded.js";
import { headersOf } from "./made.js";
import { warningsDuring } from "./warned.js";

const minute = fixedWindow({ limit: 2, window: "1m" });
const client = { ip: "203.0.113.9" };

function one(policy: PolicyDefinition, options: AskOptions = {}) {
  const { clock, limiter } = limiterOf({ api: policy });
  return { clock, limiter, admit: guardOf(limiter, ["api"], options) };
}

describe("a caller's numbers", () => {
  const tiered = fixedWindow({ limit: 2, window: "1m", tiers: { pro: { limit: 9 } } });
  const ofPlan = (request: Ask): string => request.tier as string;

  it("are those of the tier, now or later, and the policy's own without one", async () => {
    for (const tier of [ofPlan, async (request: Ask) => ofPlan(request)]) {
      const { admit } = one(tiered, { tier });
      expect(told(await admit({ tier: "pro" }))).toBe("go 9/8");
      expect(told(await admit())).toBe("go 2/0");
    }
  });

  it("go before the tier where the application has them, by identity and request", async () => {
    const asked: unknown[] = [];
    const { admit } = one(
      { ...tiered, by: "user" },
      {
        tier: () => "pro",
        identify: ({ user }) => ({ user: user as string }),
        limits: {
          api: async (identity, { user }) => {
            asked.push([identity, user]);
            return user === "ada" ? { limit: 5 } : undefined;
          },
        },
      },
    );
    expect(told(await admit({ user: "ada" }))).toBe("go 5/4");
    expect(told(await admit({ user: "bob" }))).toBe("go 9/8");
    expect(asked[0]).toEqual([{ ip: "203.0.113.9", user: "ada" }, "ada"]);
  });

  it("are not asked for where no policy of the request has tiers, or limits of its own", () => {
    const { limiter } = limiterOf({ plain: minute, tiered });
    const asked = (): never => {
      throw new Error("asked");
    };
    const admit = guardOf(limiter, ["plain"], { tier: asked, limits: { tiered: asked } });
    expect(told(admit() as never)).toBe("go 2/1");
  });

  it("are not those of a name that every object knows", () => {
    const { limiter } = limiterOf({ constructor: minute, other: minute });
    const limits = { other: () => ({ limit: 9 }) };
    expect(told(guardOf(limiter, ["constructor"], { limits })() as never)).toBe("go 2/1");
  });

  const rubbish: readonly [option: "tier" | "limits", value: unknown, shown: string][] = [
    ["tier", "platinum", '"platinum"'],
    ["tier", "constructor", '"constructor"'],
    ["tier", null, "null"],
    ["tier", 5, "5"],
    ["limits", { limit: Number.NaN }, "NaN"],
    ["limits", { limit: "7" }, '"7"'],
    ["limits", { limit: Infinity }, "Infinity"],
    ["limits", { limit: 0 }, "0"],
    ["limits", { limit: 1.5 }, "1.5"],
    ["limits", { limit: 5, burst: 9 }, "9"],
    ["limits", { limit: 7, planId: 1 }, "1"],
    ["limits", {}, "undefined"],
    ["limits", null, "null"],
    ["limits", Infinity, "Infinity"],
  ];
  const modes: readonly [mode: FailureMode, expected: string, decision: Partial<Decision>][] = [
    ["local", "go 2/1", { reason: "admitted", degraded: "none" }],
    ["open", "go 2/-", { reason: "wrong-limits", degraded: "open" }],
    ["closed", "503 2/- 1", { reason: "wrong-limits", degraded: "closed" }],
  ];
  const table = rubbish.flatMap(([option, value, shown]) =>
    modes.map(([mode, expected, decision]) => ({ option, value, shown, mode, expected, decision })),
  );
  test.each(table)(
    "that are rubbish ($option $shown) mean $expected under $mode, and are reported once",
    async ({ option, value, shown, mode, expected, decision }) => {
      const give = () => value as never;
      const options = option === "tier" ? { tier: give } : { limits: { api: give } };
      const { admit } = one({ ...tiered, onStoreFailure: mode }, options);
      const warnings = await warningsDuring(async () => {
        const plan = await admit();
        expect(told(plan)).toBe(expected);
        expect(plan.decision).toMatchObject(decision);
        await admit();
      });
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toMatch(
        new RegExp(`^HEADGATE_${option.toUpperCase()}: policy "api": .* got ${shown}; `),
      );
    },
  );

  it("that are rubbish for one policy leave the others in force", async () => {
    const { limiter } = limiterOf({ open: { ...tiered, onStoreFailure: "open" }, api: minute });
    const admit = guardOf(limiter, ["open", "api"], { limits: { open: () => null as never } });
    await warningsDuring(async () => {
      expect(told(await admit())).toBe("go 2/1");
      await admit();
      expect(told(await admit())).toBe("429 2/0 40");
    });
  });

  it("what the functions throw is the application's", async () => {
    const broken = (): never => {
      throw new Error("no plans");
    };
    expect(() => one(tiered, { tier: broken }).admit()).toThrow("no plans");
    const later = async () => broken();
    await expect(one(tiered, { limits: { api: later } }).admit()).rejects.toThrow("no plans");
  });
});

describe("the ending of a request", () => {
  const failures = fixedWindow({ limit: 2, window: "1m", count: "failures" });

  it("is asked for only where a policy counts by it, and never of a refusal", async () => {
    expect(await one(minute).admit()).toMatchObject({ conclude: undefined });
    const { admit } = one(failures);
    expect(await admit()).toMatchObject({ conclude: expect.any(Function) });
    await admit();
    const refused = await admit();
    expect(refused.action).toBe("reject");
    expect(refused).not.toHaveProperty("conclude");
  });

  it.each([
    ["success", 2],
    ["failure", 1],
    ["abandoned", 1],
  ] as const)("%s leaves %d of 2, however often it is told", async (ending, left) => {
    const { admit, limiter } = one(failures);
    const plan = await admit();
    for (let time = 0; time < 3; time += 1) if (plan.action === "continue") plan.conclude?.(ending);
    expect(await limiter.peek("api", client)).toMatchObject({ remaining: left });
  });

  it("is told to each of several mounts for what it charged", async () => {
    const { limiter } = limiterOf({ a: failures, b: failures, c: minute });
    const record = new RequestRecord();
    const plans = [["a"], ["a", "b"], ["c"], ["a"]].map((names) =>
      guardOf(limiter, names)({}, record),
    );
    for (const plan of await Promise.all(plans))
      if (plan.action === "continue") plan.conclude?.("success");
    const left = await Promise.all(["a", "b", "c"].map((name) => limiter.peek(name, client)));
    expect(left.map(({ remaining }) => remaining)).toEqual([2, 2, 1]);
  });

  it("counts under the policy that charged it, when that has been replaced since", async () => {
    const { admit, limiter } = one(failures);
    const plan = await admit();
    limiter.replacePolicies({ api: { ...failures, limit: 5, version: 2 } });
    if (plan.action === "continue") plan.conclude?.("success");
    expect(await limiter.peek("api", client)).toMatchObject({ remaining: 5 });
  });

  it("that a failing store does not take is reported, and harms no request", async () => {
    const told: HeadgateError[] = [];
    const store = { ...storeElsewhere(true), refund: () => Promise.reject(new Error("gone")) };
    const { limiter } = limiterOf({ api: failures }, store, (error) => told.push(error));
    const plan = await guardOf(limiter, ["api"])();
    if (plan.action === "continue") expect(plan.conclude?.("success")).toBeUndefined();
    await expect.poll(() => told.map(({ code }) => code)).toEqual(["STORE_FAILURE"]);
  });

  it("is told to what this process enforces by itself, while the store fails", async () => {
    const { limiter } = limiterOf({ api: failures }, storeElsewhere(false));
    const admit = guardOf(limiter, ["api"]);
    for (let time = 0; time < 4; time += 1) {
      const plan = await admit();
      expect(told(plan)).toBe("go 2/1");
      if (plan.action === "continue") plan.conclude?.("success");
    }
  });

  it("leads to a ban when it is the k-th failure, told as abnormal usage", async () => {
    const penalty = { on: "failures", after: 2, within: "1m", ban: "1h" } as const;
    const policy = fixedWindow({ limit: 9, window: "1m", penalty });
    const { admit, clock, limiter } = one(policy, { body: "problem" });
    for (let time = 0; time < 2; time += 1) {
      const plan = await admit();
      if (plan.action === "continue") plan.conclude?.("failure");
    }
    const refused = await admit();
    expect(refused.decision?.reason).toBe("ban");
    expect(told(refused)).toBe("429 9/0 3600");
    expect(refused).toMatchObject({ body: expect.stringContaining("#abnormal-usage-detected") });
    expect(await bans(limiter)).toHaveLength(1);
    clock.advance(3_600_000);
    expect(told(await admit())).toBe("go 9/8");
  });
});

describe("a request that several mounts of one policy charge and that fails", () => {
  const penalty = { on: "failures", after: 2, within: "1m", ban: "1h" } as const;
  const strict = fixedWindow({ limit: 50, window: "1m", count: "failures", penalty });
  const failsOn = async (...mounts: readonly ReturnType<typeof guardOf>[]) => {
    const record = new RequestRecord();
    const plans = [];
    for (const admit of mounts) plans.push(await admit({}, record));
    for (const plan of plans) if (plan.action === "continue") plan.conclude?.("failure");
  };

  it("is one strike, whatever their costs", async () => {
    const { limiter } = limiterOf({ api: strict });
    const mounts = [1, 3, 2, 7].map((cost) => guardOf(limiter, ["api"], { cost }));
    await failsOn(...mounts);
    expect(await bans(limiter)).toEqual([]);
    await failsOn(...mounts);
    expect(await bans(limiter)).toHaveLength(1);
  });

  it("is one strike though the first charge has been taken back, or nobody tells how it went", async () => {
    const { limiter } = limiterOf({
      api: fixedWindow({ limit: 50, window: "1m", penalty: { ...penalty, after: 1 } }),
    });
    const record = new RequestRecord();
    const first = await guardOf(limiter, ["api"])({}, record);
    const second = await guardOf(limiter, ["api"], { cost: 3 })({}, record);
    await refund(limiter, first.decision as Decision);
    if (second.action === "continue") second.conclude?.("failure");
    expect(await bans(limiter)).toHaveLength(1);
  });

  it("is one strike under two limiters that share a store, and one for each of two stores", async () => {
    const store = memoryStore();
    const limiters = [store, store, memoryStore()].map((own) =>
      createLimiter({ store: own, policies: { api: strict } }),
    );
    const mounts = limiters.map((limiter, index) =>
      guardOf(limiter as never, ["api"], { cost: index + 1 }),
    );
    await failsOn(...mounts);
    expect(limiters.flatMap((limiter) => bans(limiter))).toEqual([]);
    await failsOn(...mounts);
    expect(limiters.map((limiter) => bans(limiter).length)).toEqual([1, 1, 1]);
  });
});

describe("the route of a request", () => {
  const item = fixedWindow({ limit: 2, window: "1m", by: ["ip", "route"] });

  it("is part of the key, and not for a client to choose", async () => {
    const { limiter } = limiterOf({ item, user: { ...minute, by: "user" } });
    const admit = guardOf(limiter, ["item", "user"], {
      identify: ({ user }) => ({ user: String(user), route: String(user), ip: "192.0.2.1" }),
    });
    for (const user of ["ada", "bob"])
      expect((await admit({ user, route: "/items/:id" })).decision?.allowed).toBe(true);
    expect(told(await admit({ user: "cy", route: "/items/:id" }))).toBe("429 2/0 40");
    expect(told(await admit({ user: "dee", route: "/users/:id" }))).toBe("go 2/1");
  });

  it("is the one that the mount declares, before any other", async () => {
    const { limiter } = limiterOf({ item });
    const admit = guardOf(limiter, ["item"], { route: "/declared" });
    await admit({ route: "/a" });
    expect(told(await admit())).toBe("go 2/0");
  });

  it("is asked for only where a policy of the request counts by it", async () => {
    const { limiter } = limiterOf({ item, api: minute });
    const admit = guardOf(limiter, ({ route }) => (route === undefined ? "api" : "item"));
    expect(told(await admit())).toBe("go 2/1");
    expect(told(await admit({ route: "/a" }))).toBe("go 2/1");
    expect(() => guardOf(limiter, () => "item")()).toThrow("asked for the route");
  });
});

it("identify is asked only where a policy of the request counts by more than the address", async () => {
  let asked = 0;
  const { limiter } = limiterOf({ perUser: { ...minute, by: "user" }, api: minute });
  const admit = guardOf(limiter, ({ user }) => (user === undefined ? "api" : "perUser"), {
    identify: ({ user }) => {
      asked += 1;
      return { user: String(user) };
    },
  });
  await admit();
  expect(asked).toBe(0);
  await admit({ user: "ada" });
  expect(asked).toBe(1);
});

it("identify is asked for the limits of a policy that counts by the address, and they see all of it", async () => {
  const asked: unknown[] = [];
  const { limiter } = limiterOf({
    perIp: minute,
    other: minute,
    perUser: { ...minute, by: "user" },
  });
  const options: AskOptions = {
    identify: async ({ user }) => ({ user: user as string, plan: "pro" }),
    limits: {
      perIp: (identity) => {
        asked.push(identity);
        return { limit: identity.plan === "pro" ? 9 : 1 };
      },
    },
  };
  const identity = { ip: client.ip, user: "ada", plan: "pro" };
  for (const choose of [["perIp"], () => "perIp"] as const)
    await guardOf(limiter, choose, options)({ user: "ada" });
  expect(asked).toEqual([identity, identity]);
  expect(told(await guardOf(limiter, ["perIp"], options)({ user: "ada" }))).toBe("go 9/6");
  // Of a request that meets no such policy nobody asks.
  expect(guardOf(limiter, ["other"], options)({ user: "ada" })).not.toBeInstanceOf(Promise);
});

it("warns of the order on no mount of a policy whose key another mount has seen", async () => {
  const { limiter } = limiterOf({ perUser: { ...minute, by: "user" } });
  const mount = () =>
    guardOf(limiter, ["perUser"], { identify: ({ user }) => ({ user: user as string }) });
  const warnings = await warningsDuring(async () => {
    await mount()({ user: "ada" });
    await mount()({});
  });
  expect(warnings).toEqual([]);
});

describe("inherited policies", () => {
  const policies = { perIp: minute, read: minute, strict: minute };
  const namesOf = async (options: AskOptions, own: readonly string[] = ["read"]) => {
    const { decision } = await guardOf(limiterOf(policies).limiter, own, options)();
    return decision?.outcomes.map(({ policy }) => policy.name);
  };

  it.each<[options: AskOptions, names: readonly string[]]>([
    [{ inherit: ["perIp"] }, ["perIp", "read"]],
    [{ inherit: ["read", "perIp"] }, ["read", "perIp"]],
    [{ inherit: ["perIp"], override: { perIp: false } }, ["read"]],
    [{ inherit: ["perIp"], override: { perIp: "strict" } }, ["strict", "read"]],
    [{ inherit: ["perIp", "strict"], override: { perIp: "strict" } }, ["strict", "read"]],
  ])("%j are %j", async (options, names) => {
    expect(await namesOf(options)).toEqual(names);
  });

  it("apply where a function chooses none", async () => {
    const { limiter } = limiterOf(policies);
    const plan = await guardOf(limiter, () => false, { inherit: ["perIp"] })();
    expect(plan.decision?.outcomes.map(({ policy }) => policy.name)).toEqual(["perIp"]);
  });

  it.each<[options: AskOptions, own: readonly string[], message: string]>([
    [
      { inherit: ["perIp"], override: { read: false } },
      ["read"],
      'override: policy "read" is not inherited here (inherited: perIp)',
    ],
    [{ inherit: ["gone"] }, ["read"], 'policy "gone" is not one of this limiter\'s'],
    [
      { inherit: ["perIp"], override: { perIp: "gone" } },
      ["read"],
      'policy "gone" is not one of this limiter\'s',
    ],
    [{ inherit: ["perIp"], override: { perIp: false } }, [], "limit: name at least one policy"],
    [{ inherit: "perIp" as never }, ["read"], 'inherit: must be a list of policy names, got "p'],
    [
      { inherit: ["perIp"], override: { perIp: undefined } as never },
      ["read"],
      "override: must be policy names, or false",
    ],
    [{ route: "" }, ["read"], 'route: must be a route\'s pattern, got ""'],
    [{ tier: "pro" as never }, ["read"], 'tier: must be a function, got "pro"'],
    [
      { limits: { read: { limit: 5 } } as never },
      ["read"],
      "limits: must be functions by policy name, got an object",
    ],
    [{ limits: { gone: () => undefined } }, ["read"], 'policy "gone" is not one of'],
  ])("%j on %j is an error", (options, own, message) => {
    expect(() => guardOf(limiterOf(policies).limiter, own, options)).toThrow(message);
  });

  it("alone are enough for a mount", async () => {
    expect(await namesOf({ inherit: ["perIp"] }, [])).toEqual(["perIp"]);
  });
});

describe("policies that are replaced while requests come", () => {
  it("count by their new key from then on", async () => {
    const { limiter } = limiterOf({ api: minute });
    const admit = guardOf(limiter, ["api"], { identify: ({ user }) => ({ user: String(user) }) });
    await admit({ user: "ada" });
    limiter.replacePolicies({ api: { ...minute, by: ["user", "route"], version: 2 } });
    const { decision } = await admit({ user: "ada", route: "/a" });
    expect(decision?.outcomes[0]?.receipt?.subject).toBe("user=ada&route=%2Fa");
  });

  it("tell how a request went from then on", async () => {
    const { limiter } = limiterOf({ api: minute });
    const admit = guardOf(limiter, ["api"]);
    expect(await admit()).toMatchObject({ conclude: undefined });
    limiter.replacePolicies({ api: { ...minute, count: "failures", version: 2 } });
    expect(await admit()).toMatchObject({ conclude: expect.any(Function) });
  });

  it("refuse for good what costs more than they now can admit", async () => {
    const { limiter } = limiterOf({ api: minute });
    const admit = guardOf(limiter, ["api"], { cost: 2 });
    expect(told(await admit())).toBe("go 2/0");
    limiter.replacePolicies({ api: { ...minute, limit: 1, version: 2 } });
    const refused = await admit();
    expect(told(refused)).toBe("429 1/0");
    expect(refused.decision?.reason).toBe("never");
  });

  it("are those of a function that chooses by name as well", async () => {
    const { limiter } = limiterOf({ api: minute });
    const admit = guardOf(limiter, () => "api");
    await admit();
    limiter.replacePolicies({ api: { ...minute, limit: 9, version: 2 } });
    expect(told(await admit())).toBe("go 9/7");
  });
});

describe("policies that would be two queues on one mount", () => {
  const queue = leakyBucket({ limit: 1, window: "1s", queue: 1 });
  const both = 'policies "a" and "b": a request can wait in one leaky bucket at most';
  const setUp = () => limiterOf({ a: queue, b: minute, c: minute }).limiter;
  const replaced = (limiter: ReturnType<typeof setUp>, b: PolicyDefinition) =>
    limiter.replacePolicies({ ...limiter.policies, b: { ...b, version: 2 } });

  it("are no replacement for those that it has, and nothing has changed", async () => {
    const limiter = setUp();
    const admit = guardOf(limiter, ["b"], { inherit: ["a"] });
    for (let time = 0; time < 2; time += 1) guardOf(limiter, ["a", "b", "c"]);
    const before = limiter.policies;
    const wrong = expect.objectContaining({ code: "INVALID_OPTION", message: both });
    expect(() => replaced(limiter, queue)).toThrow(wrong);
    expect(limiter.policies).toBe(before);
    expect((await admit()).decision?.outcomes.map(({ policy }) => policy)).toEqual([
      before.a,
      before.b,
    ]);
  });

  it("may be there on mounts of their own, or as a trial", async () => {
    const limiter = setUp();
    for (const names of [
      ["a", "c"],
      ["b", "c"],
    ])
      guardOf(limiter, names);
    replaced(limiter, queue);
    const mounted = setUp();
    const admit = guardOf(mounted, ["a", "b"]);
    replaced(mounted, { ...queue, shadow: true });
    expect(told(await admit())).toBe("go 2/1");
  });

  it("leave other errors of a replacement as they are", () => {
    const limiter = setUp();
    guardOf(limiter, ["a", "b"]);
    expect(() => limiter.replacePolicies({ a: queue })).toThrow(
      'policy "b" is not one of this limiter\'s: a',
    );
    expect(() => limiter.replacePolicies({ a: { ...queue, limit: 0 } })).toThrow("positive");
  });

  test.each<[mode: FailureMode, expected: string, decision: object]>([
    ["local", "go 2/1", { reason: "admitted", outcomes: [{ policy: { name: "a" } }] }],
    ["open", "go 2/1", { reason: "admitted", outcomes: [{ policy: { name: "a" } }] }],
    ["closed", "503 2/- 1", { reason: "two-queues", degraded: "closed", outcomes: [] }],
  ])(
    "where a function chooses them, mean the failure mode of the second: %s",
    async (onStoreFailure, expected, decision) => {
      const limiter = setUp();
      const admit = guardOf(limiter, () => ["a", "b"]);
      replaced(limiter, { ...queue, onStoreFailure });
      const warnings = await warningsDuring(async () => {
        const plan = await admit();
        expect(told(plan)).toBe(expected);
        expect(plan.decision).toMatchObject(decision);
        await admit();
      });
      expect(warnings).toEqual([`HEADGATE_QUEUES: ${both}; the onStoreFailure of "b" applies`]);
    },
  );
});

describe("shadow policies", () => {
  const trial = fixedWindow({ limit: 1, window: "1m", shadow: true });

  it("alone put no field on the response, and refuse nobody", async () => {
    const { admit } = one(trial, { standardHeaders: "draft-11", exposeHeaders: true });
    for (const allowed of [true, false]) {
      const plan = await admit({ headers: { origin: "https://app.example" } });
      expect(plan).toMatchObject({ action: "continue", headers: [], expose: [], delayMs: 0 });
      expect(plan.decision?.shadows.map((shadow) => shadow.allowed)).toEqual([allowed]);
    }
  });

  it("hold no request, whatever their queue", async () => {
    const { admit } = one(leakyBucket({ limit: 1, window: "1s", queue: 5, shadow: true }));
    await admit();
    expect(await admit()).toMatchObject({ action: "continue", delayMs: 0 });
  });

  it.each(["open", "local", "closed"] as const)(
    "refuse nobody and tell nothing while their store fails: %s",
    async (onStoreFailure) => {
      const { limiter } = limiterOf({ api: { ...trial, onStoreFailure } }, storeElsewhere(false));
      expect(await guardOf(limiter, ["api"])()).toMatchObject({ action: "continue", headers: [] });
    },
  );

  it.each(["open", "closed"] as const)(
    "refuse nobody for a wrong cost under %s, and leave the telling to enforced policies",
    async (onStoreFailure) => {
      const api = { ...minute, onStoreFailure: "open" } as const;
      const { limiter } = limiterOf({ trial: { ...trial, onStoreFailure }, api });
      const cost = () => Number.NaN;
      await warningsDuring(async () => {
        expect(told(await guardOf(limiter, ["trial"], { cost })())).toBe("go -/-");
        expect(told(await guardOf(limiter, ["trial", "api"], { cost })())).toBe("go 2/-");
      });
    },
  );

  it("leave the fields of other mounts alone, before and behind them", async () => {
    const { limiter } = limiterOf({ trial, api: minute });
    const record = new RequestRecord();
    const [before, api, behind] = ["trial", "api", "trial"].map((name) =>
      guardOf(limiter, [name])({}, record),
    );
    expect(headersOf((await before) as never)).toEqual({});
    expect(told((await api) as never)).toBe("go 2/1");
    // The second mount of a shadow has nothing left to ask; the response keeps the fields that it has.
    expect(told((await behind) as never)).toBe("go 2/1");
    expect(record.decision).toMatchObject({
      limit: 2,
      remaining: 1,
      outcomes: [{ policy: { name: "api" } }],
      shadows: [{ policy: { name: "trial" } }],
    });
  });

  it("are asked once on a request, whether they admit or would refuse", async () => {
    const penalty = { after: 2, within: "1m", ban: "1h" } as const;
    const policy = fixedWindow({ limit: 1, window: "1m", shadow: true, penalty });
    const { limiter } = limiterOf({ trial: policy });
    const admit = guardOf(limiter, ["trial"]);
    await admit();
    const record = new RequestRecord();
    for (let mount = 0; mount < 3; mount += 1) await admit({}, record);
    expect(record.decision?.shadows).toHaveLength(1);
    expect(await bans(limiter)).toEqual([]);
  });

  it("tell observers of the decision", async () => {
    const seen: unknown[] = [];
    const { limiter } = limiterOf({ trial, api: tokenBucket({ limit: 5, window: "1m" }) });
    const admit = guardOf(limiter, ["api", "trial"], {
      onDecision: ({ shadows, outcomes }) =>
        seen.push([outcomes.length, shadows.map(({ allowed }) => allowed)]),
    });
    await admit();
    await admit();
    expect(seen).toEqual([
      [1, [true]],
      [1, [false]],
    ]);
  });
});
