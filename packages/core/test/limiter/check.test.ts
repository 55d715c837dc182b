import { describe, expect, it, test } from "vitest";
import { HeadgateError } from "../../src/errors.js";
import { type CheckOptions, createLimiter } from "../../src/limiter/limiter.js";
import { fixedWindow, leakyBucket, slidingWindow, tokenBucket } from "../../src/policy/builders.js";
import { definePolicy } from "../../src/policy/define.js";
import { memoryStore } from "../../src/store/memory/memory-store.js";
import type { Charge } from "../../src/store/store.js";
import { ManualClock } from "../../src/testing/index.js";

function setUp() {
  const clock = new ManualClock(1_700_000_000_000);
  const limiter = createLimiter({
    clock,
    policies: {
      ip: tokenBucket({ limit: 5, window: "1s" }),
      user: slidingWindow({ limit: 3, window: "10s", by: "user" }),
      both: fixedWindow({ limit: 2, window: "1m", by: ["user", "ip"] }),
      either: fixedWindow({ limit: 2, window: "1m", by: { firstOf: ["user", "ip"] } }),
      queue: leakyBucket({ limit: 1, window: "1s", queue: 2 }),
      queue2: leakyBucket({ limit: 1, window: "1s", queue: 2, by: "user" }),
    },
  });
  return { clock, limiter };
}
const ann = { ip: "192.0.2.1", user: "ann" };
const bob = { ip: "192.0.2.2", user: "bob" };

/** The code and message of what a call throws. */
function failureOf(call: () => unknown): { code: string; message: string } {
  try {
    call();
  } catch (error) {
    if (error instanceof HeadgateError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("check", () => {
  it("admits up to the limit, refuses, and admits again after exactly retryAfterMs", () => {
    const { limiter, clock } = setUp();
    const remaining = [1, 2, 3].map(() => limiter.check("user", ann).remaining);
    expect(remaining).toEqual([2, 1, 0]);
    const refused = limiter.check("user", ann);
    expect(refused).toMatchObject({ allowed: false, reason: "limit", retryAfterMs: 10_000 });
    clock.advance(9_999);
    expect(limiter.check("user", ann).allowed).toBe(false);
    clock.advance(1);
    expect(limiter.check("user", ann).allowed).toBe(true);
  });

  it("gives each caller a snapshot that later calls do not change", () => {
    const { limiter } = setUp();
    const decisions = Array.from({ length: 10 }, () => limiter.check("ip", ann));
    expect(decisions.map(({ remaining }) => remaining)).toEqual([4, 3, 2, 1, 0, 0, 0, 0, 0, 0]);
    expect(decisions.map(({ allowed }) => allowed)).toEqual(
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((index) => index < 5),
    );
  });

  it("keeps clients and policies apart", () => {
    const { limiter } = setUp();
    for (let call = 0; call < 4; call += 1) limiter.check("user", ann);
    expect(limiter.check("user", bob).remaining).toBe(2);
    expect(limiter.check("either", ann).remaining).toBe(1);
    expect(limiter.check("both", ann).remaining).toBe(1);
  });

  it("answers at once with a store in this process: no promise, nothing to await", () => {
    const { limiter } = setUp();
    for (const decision of [
      limiter.check("ip", ann),
      limiter.check(["ip", "user"], ann),
      limiter.peek("ip", ann),
    ]) {
      expect(decision).not.toHaveProperty("then");
      expect(decision.allowed).toBe(true);
    }
    expect(limiter.reset("ip", ann)).toBeUndefined();
  });

  it("charges several policies together, and lists their outcomes in the order named", () => {
    const { limiter } = setUp();
    const decision = limiter.check(["user", "ip"], ann);
    expect(decision.outcomes.map(({ policy, remaining }) => [policy.name, remaining])).toEqual([
      ["user", 2],
      ["ip", 4],
    ]);
    expect(decision.policy.name).toBe("user");
  });

  it("charges none when one refuses", () => {
    const { limiter } = setUp();
    for (let call = 0; call < 3; call += 1) limiter.check("user", ann);
    for (const names of [
      ["ip", "user"],
      ["user", "ip"],
    ] as const) {
      const refused = limiter.check(names, ann);
      expect(refused).toMatchObject({ allowed: false, retryAfterMs: 10_000 });
      expect(refused.policy.name).toBe("user");
      expect(refused.outcomes.every(({ receipt }) => receipt === undefined)).toBe(true);
    }
    expect(limiter.peek("ip", ann).remaining).toBe(5);
  });

  it("charges a policy once that is named twice", () => {
    const { limiter } = setUp();
    expect(limiter.check(["ip", "ip", "user", "ip"], ann).outcomes).toHaveLength(2);
    expect(limiter.peek("ip", ann).remaining).toBe(4);
  });

  it("holds a request that a leaky bucket admits early, and no other", () => {
    const { limiter } = setUp();
    expect(limiter.check(["queue", "ip"], ann).delayMs).toBe(0);
    expect(limiter.check(["queue", "ip"], ann).delayMs).toBe(1_000);
    expect(limiter.check("ip", ann).delayMs).toBe(0);
  });

  it("refuses two leaky buckets on one request", () => {
    const { limiter } = setUp();
    expect(failureOf(() => limiter.check(["queue", "ip", "queue2"], ann))).toEqual({
      code: "INVALID_CHARGE",
      message: 'policies "queue" and "queue2": a request can wait in one leaky bucket at most',
    });
    expect(limiter.peek("ip", ann).remaining).toBe(5);
    expect(limiter.check(["queue", "queue"], ann).allowed).toBe(true);
  });
});

describe("cost", () => {
  it("is 1 unless it is given, for all policies or for some by name", () => {
    const { limiter } = setUp();
    const remaining = (cost?: CheckOptions<"ip" | "user">["cost"]) => {
      limiter.reset("ip", ann);
      limiter.reset("user", ann);
      const options = cost === undefined ? {} : { cost };
      return limiter
        .check(["ip", "user"], ann, options)
        .outcomes.map((outcome) => outcome.remaining);
    };
    expect(remaining()).toEqual([4, 2]);
    expect(remaining(2)).toEqual([3, 1]);
    expect(remaining({ ip: 5 })).toEqual([0, 2]);
    expect(remaining({ ip: 4, user: 0 })).toEqual([1, 3]);
    expect(remaining({})).toEqual([4, 2]);
    expect(remaining({ ip: undefined } as never)).toEqual([4, 2]);
  });

  it("of 0 only looks, also in a state that refuses", () => {
    const { limiter } = setUp();
    limiter.check("user", ann, { cost: 3 });
    expect(limiter.check("user", ann, { cost: 0 })).toMatchObject({ allowed: true, remaining: 0 });
    expect(limiter.peek("user", ann).allowed).toBe(false);
  });

  it("above the capacity can never pass, and says so without a time", () => {
    const { limiter } = setUp();
    expect(limiter.check(["ip", "user"], ann, { cost: { user: 4 } })).toMatchObject({
      allowed: false,
      reason: "never",
      retryAfterMs: Infinity,
      remaining: 3,
    });
  });

  it("refused takes nothing, however much of it would have fitted", () => {
    const { limiter } = setUp();
    limiter.check("ip", ann, { cost: 3 });
    expect(limiter.check("ip", ann, { cost: 3 }).allowed).toBe(false);
    expect(limiter.peek("ip", ann).remaining).toBe(2);
  });

  it("of a policy named like a property of every object is 1", () => {
    const limiter = createLimiter({
      policies: { constructor: fixedWindow({ limit: 1, window: 1 }) },
    });
    const decision = limiter.check("constructor", ann, { cost: {} as never });
    expect(decision).toMatchObject({ allowed: true, remaining: 0 });
  });

  it.each([
    [Number.NaN, "NaN"],
    [-1, "-1"],
    [0.5, "0.5"],
    [Infinity, "Infinity"],
    [2 ** 53, "9007199254740992"],
    ["1", '"1"'],
    [null, "null"],
    [1n, "1n"],
    [true, "true"],
    [() => 1, "a function"],
  ])("%s is an error that names policy, rule and value, and poisons nothing", (cost, shown) => {
    const { limiter } = setUp();
    const message = `policy "ip": cost must be an integer from 0, got ${shown}`;
    const attempts = [
      () => limiter.check("ip", ann, { cost: cost as number }),
      () => limiter.check(["user", "ip"], ann, { cost: { ip: cost as number } }),
      () => limiter.peek("ip", ann, { cost: cost as number }),
    ];
    for (const attempt of attempts)
      expect(failureOf(attempt)).toEqual({ code: "INVALID_CHARGE", message });
    expect(limiter.check(["ip", "user"], ann).outcomes.map((each) => each.remaining)).toEqual([
      4, 2,
    ]);
  });

  it.each([[[5]], [{ tokens: 800 }], [{ IP: 1 }]])(
    "%j names no policy of the limiter, which is an error",
    (cost) => {
      const { limiter } = setUp();
      expect(failureOf(() => limiter.check("ip", ann, { cost: cost as never })).code).toBe(
        "UNKNOWN_POLICY",
      );
    },
  );
});

describe("wrong calls", () => {
  it.each([
    ["nope", '"nope"'],
    ["", '""'],
    ["toString", '"toString"'],
    ["__proto__", '"__proto__"'],
    [["ip", "nope"], '"nope"'],
    [[undefined], "undefined"],
    [[["ip"]], "an array of 1"],
  ])("%j names no policy", (names, shown) => {
    const { limiter } = setUp();
    expect(failureOf(() => limiter.check(names as never, ann))).toEqual({
      code: "UNKNOWN_POLICY",
      message: `policy ${shown} is not one of this limiter's: ip, user, both, either, queue, queue2`,
    });
  });

  it.each([[undefined], [null], [5], [{}], [[]]])("%j is no name at all", (names) => {
    const { limiter } = setUp();
    expect(failureOf(() => limiter.check(names as never, ann)).code).toBe("UNKNOWN_POLICY");
    expect(failureOf(() => limiter.peek(names as never, ann)).code).toBe("UNKNOWN_POLICY");
    expect(failureOf(() => limiter.reset(names as never, ann)).code).toBe("UNKNOWN_POLICY");
  });

  it.each([
    [{}, "none of it"],
    [{ user: "" }, 'user ""'],
    [{ user: "  " }, 'user "  "'],
    [{ user: 42 }, "user 42"],
    [{ user: null, ip: "192.0.2.1" }, "user null, ip"],
    [undefined, "undefined"],
    [null, "null"],
    ["ann", '"ann"'],
  ])("the identity %j lacks the key", (identity, shown) => {
    const { limiter } = setUp();
    const expected = {
      code: "INVALID_IDENTITY",
      message: `policy "user": identity must have "user" as text that is not blank, got ${shown}`,
    };
    expect(failureOf(() => limiter.check("user", identity as never))).toEqual(expected);
    expect(failureOf(() => limiter.peek("user", identity as never))).toEqual(expected);
    expect(failureOf(() => limiter.reset("user", identity as never))).toEqual(expected);
    expect(
      failureOf(() =>
        limiter.check(["ip", "user"], { ...ann, ...(identity as object), user: undefined }),
      ).code,
    ).toBe("INVALID_IDENTITY");
    expect(limiter.peek("ip", ann).remaining).toBe(5);
  });

  it("the message names all parts of a key, and no value that a person may own", () => {
    const { limiter } = setUp();
    const { message } = failureOf(() => limiter.check("both", { user: "ann", ip: " " }));
    expect(message).toBe(
      'policy "both": identity must have ["user","ip"] as text that is not blank, got user, ip " "',
    );
  });

  it("an unknown option is not ignored", () => {
    const { limiter } = setUp();
    expect(failureOf(() => limiter.check("ip", ann, { costs: 5 } as never))).toEqual({
      code: "INVALID_OPTION",
      message: "check: costs is not an option (known: cost, tier, limits), got 5",
    });
  });

  it.each([
    ["no charge", []],
    [
      "a blank subject",
      [{ policy: definePolicy("a", fixedWindow({ limit: 1, window: 1 })), subject: "", cost: 1 }],
    ],
    ["no subject", [{ policy: definePolicy("a", fixedWindow({ limit: 1, window: 1 })), cost: 1 }]],
  ])("decide refuses %s", (_, charges) => {
    const { limiter } = setUp();
    expect(failureOf(() => limiter.decide(charges as unknown as Charge[])).code).toBe(
      "INVALID_CHARGE",
    );
  });
});

describe("decide", () => {
  it("makes one charge of several for one policy and subject: the dearest", () => {
    const { limiter } = setUp();
    const policy = limiter.policies.ip;
    const charge = (subject: string, cost: number): Charge => ({ policy, subject, cost });
    const decision = limiter.decide([charge("ip=1", 1), charge("ip=2", 1), charge("ip=1", 3)]);
    expect(decision.outcomes.map(({ cost, remaining }) => [cost, remaining])).toEqual([
      [3, 2],
      [1, 4],
    ]);
  });

  it("tells when remaining grows, if it is asked to", () => {
    const { limiter } = setUp();
    const charges = [{ policy: limiter.policies.ip, subject: "ip=1", cost: 2 }];
    expect(limiter.decide(charges).outcomes[0]?.nextMs).toBeUndefined();
    expect(limiter.decide(charges, { wantNext: true }).outcomes[0]?.nextMs).toBe(200);
    expect(limiter.decide(charges, { mode: "peek", wantNext: true }).outcomes[0]?.nextMs).toBe(200);
  });
});

describe("peek", () => {
  it("reports what a check would meet and changes nothing", () => {
    const { limiter } = setUp();
    for (let call = 0; call < 20; call += 1)
      expect(limiter.peek(["ip", "user"], ann).outcomes.map((each) => each.remaining)).toEqual([
        5, 3,
      ]);
    limiter.check("user", ann, { cost: 3 });
    expect(limiter.peek(["ip", "user"], ann)).toMatchObject({
      allowed: false,
      retryAfterMs: 10_000,
    });
    expect((limiter.store as ReturnType<typeof memoryStore>).size).toBe(1);
  });
});

describe("reset", () => {
  it("makes one identity untouched under one policy", () => {
    const { limiter } = setUp();
    for (const who of [ann, bob]) limiter.check(["ip", "user"], who, { cost: 3 });
    limiter.reset("user", ann);
    expect(limiter.peek("user", ann)).toMatchObject({ remaining: 3, resetMs: 0 });
    expect(limiter.peek("user", bob).remaining).toBe(0);
    expect(limiter.peek("ip", ann).remaining).toBe(2);
    limiter.reset("user", ann);
    expect(limiter.peek("user", ann).remaining).toBe(3);
  });
});

describe("a limiter", () => {
  it("knows its policies by name, frozen", () => {
    const { limiter } = setUp();
    expect(Object.keys(limiter.policies)).toContain("queue2");
    expect(limiter.policies.user).toMatchObject({ name: "user", by: "user", windowMs: 10_000 });
    expect(Object.isFrozen(limiter.policies)).toBe(true);
  });

  it("hashes secret parts before they reach the store", () => {
    const limiter = createLimiter({
      policies: { key: fixedWindow({ limit: 1, window: "1m", by: "apiKey" }) },
      secretParts: ["apiKey"],
      store: memoryStore(),
    });
    const subject = limiter.subjectOf(limiter.policies.key.by, { apiKey: "k-1234" });
    expect(subject).toMatch(/^apiKey=#[0-9a-f]{32}$/);
    expect(limiter.check("key", { apiKey: "k-1234" }).outcomes[0]?.receipt?.subject).toBe(subject);
  });

  it("refuses one name with two policies on one store", () => {
    const store = memoryStore();
    const make = (limit: number) =>
      createLimiter({ store, policies: { api: fixedWindow({ limit, window: "1m" }) } });
    expect(make(5).check("api", ann).remaining).toBe(4);
    expect(make(5).check("api", ann).remaining).toBe(3);
    expect(failureOf(() => make(6).check("api", ann)).code).toBe("POLICY_CONFLICT");
  });

  it("closes without a store to close", async () => {
    await expect(setUp().limiter.close()).resolves.toBeUndefined();
  });
});

test("a layered request admits what each of its policies admits, to the last one", () => {
  const { limiter, clock } = setUp();
  const admitted = Array.from({ length: 100 }, () => {
    clock.advance(100);
    return limiter.check(["ip", "user", "either"], ann).allowed;
  }).filter(Boolean);
  expect(admitted).toHaveLength(2);
});
