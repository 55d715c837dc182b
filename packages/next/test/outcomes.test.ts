import { createLimiter, fixedWindow } from "@headgate/core";
import { ManualClock } from "@headgate/core/testing";
import { describe, expect, it } from "vitest";
import { rateLimitProxy, withRateLimit, withRateLimitApi } from "../src/index.js";
import { requestTo, shared } from "./limits.js";

const context = { params: Promise.resolve({}) };

function loginLimiter() {
  return createLimiter({
    clock: new ManualClock(1_700_000_000_000),
    policies: {
      login: fixedWindow({ limit: 5, window: "15m", count: "failures" }),
      work: fixedWindow({ limit: 5, window: "15m", count: "successes" }),
      perIp: fixedWindow({ limit: 9, window: "1m", tiers: { pro: { limit: 99 } } }),
      item: fixedWindow({ limit: 9, window: "1m", by: ["ip", "route"] }),
    },
  });
}

describe("a route handler under a policy that counts failures", () => {
  const leftAfter = async (handler: () => Response | Promise<Response>, options = {}) => {
    const limiter = loginLimiter();
    const mount = { limiter, ...shared, policies: ["login"] as const, ...options };
    const limited = withRateLimit(handler, mount);
    await limited(requestTo("/login"), context).catch(() => {});
    const response = await withRateLimit(() => new Response(null, { status: 401 }), mount)(
      requestTo("/login"),
      context,
    );
    return Number(response.headers.get("x-ratelimit-remaining"));
  };

  it.each<[string, number, () => Response | Promise<Response>]>([
    ["a success", 4, () => new Response("ok")],
    ["a redirect", 4, () => Response.redirect("http://localhost/home", 302)],
    ["a failure", 3, () => new Response(null, { status: 401 })],
    ["an error that it throws", 3, () => Promise.reject(new Error("down"))],
    [
      "what redirect() throws",
      4,
      () => {
        throw Object.assign(new Error("redirect"), { digest: "NEXT_REDIRECT;replace;/a;307;" });
      },
    ],
  ])("%s leaves %d", async (_, left, handler) => {
    expect(await leftAfter(handler)).toBe(left);
  });

  it("the application says what a success is", async () => {
    const succeeded = (response: Response) => response.status === 401;
    expect(await leftAfter(() => new Response("ok"), { succeeded })).toBe(3);
  });

  it.each<[title: string, succeeded: () => unknown]>([
    [
      "an error",
      () => {
        throw new Error("no idea");
      },
    ],
    ["a promise", async () => true],
  ])(
    "what the application cannot tell stays counted, and is answered: %s",
    async (_, succeeded) => {
      for (const policies of [["login"], ["work"]] as const) {
        const limiter = loginLimiter();
        const limited = withRateLimit(() => new Response("ok"), {
          limiter,
          ...shared,
          policies,
          succeeded: succeeded as () => boolean,
        });
        expect((await limited(requestTo("/login"), context)).status).toBe(200);
        const { headers } = await limited(requestTo("/login"), context);
        expect(headers.get("x-ratelimit-remaining")).toBe("3");
      }
    },
  );

  it("a wrong way to tell a success is an error", () => {
    const wrong = { succeeded: 200 as never };
    expect(() =>
      withRateLimit(() => new Response(), {
        limiter: loginLimiter(),
        ...shared,
        policies: ["login"],
        ...wrong,
      }),
    ).toThrow("succeeded: must be a function, got 200");
    expect(() =>
      withRateLimitApi(() => {}, {
        limiter: loginLimiter(),
        ...shared,
        policies: ["login"],
        ...wrong,
      }),
    ).toThrow("succeeded: must be a function, got 200");
  });

  it.each<[policy: "login" | "work", handler: (signal: AbortSignal) => Response]>([
    ["login", () => new Response("welcome")],
    [
      "work",
      (signal) => {
        throw signal.reason;
      },
    ],
  ])("who has gone before it ended stays counted: %s", async (policy, handler) => {
    const limiter = loginLimiter();
    const leaving = new AbortController();
    const limited = withRateLimit(
      ({ signal }) => {
        leaving.abort();
        return handler(signal);
      },
      { limiter, ...shared, policies: [policy] },
    );
    await limited(requestTo("/login", { signal: leaving.signal }), context).catch(() => {});
    expect(limiter.peek(policy, { ip: "203.0.113.1" }).remaining).toBe(4);
  });

  it("12 at once at limit 5 run 5 times, and lock nobody out", async () => {
    const limited = withRateLimit(
      async () => {
        await new Promise((goOn) => setImmediate(goOn));
        return new Response("welcome");
      },
      { limiter: loginLimiter(), ...shared, policies: ["login"] },
    );
    const login = () => limited(requestTo("/login"), context);
    const answers = await Promise.all(Array.from({ length: 12 }, login));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    expect((await login()).status).toBe(200);
  });
});

describe("rateLimitProxy", () => {
  it("refuses policies that count by how requests go, which it never sees", () => {
    const rules = [{ path: "/login", policies: ["login"] as ["login"] }];
    expect(() => rateLimitProxy({ limiter: loginLimiter(), ...shared, rules })).toThrow(
      'rateLimitProxy: policy "login" counts by how requests go, which a proxy never sees: use withRateLimit',
    );
  });

  it("keeps its policies from being replaced by such ones, or by what it knows no route for", async () => {
    const limiter = loginLimiter();
    const proxy = rateLimitProxy({
      limiter,
      ...shared,
      inherit: ["perIp"],
      rules: [{ path: "/items/:id", policies: ["item"] }],
    });
    const { login, work, perIp, item } = limiter.policies;
    const before = limiter.policies;
    const replace = (policies: object) =>
      limiter.replacePolicies({ login, work, perIp, item, ...policies });
    const next = { limit: 3, window: "1m", version: 2 } as const;
    const penalty = { on: "failures", after: 3, within: "1m", ban: "1h" } as const;
    for (const policy of [{ count: "failures" }, { count: "successes" }, { penalty }] as const)
      for (const name of ["perIp", "item"])
        expect(() => replace({ [name]: fixedWindow({ ...next, ...policy }) })).toThrow(
          `rateLimitProxy: policy "${name}" counts by how requests go, which a proxy never sees`,
        );
    expect(() => replace({ perIp: fixedWindow({ ...next, by: ["ip", "route"] }) })).toThrow(
      'rateLimitProxy: inherited policy "perIp" counts by "route": give the option route',
    );
    expect(limiter.policies).toBe(before);
    replace({ login: fixedWindow({ ...next, count: "successes" }), perIp: fixedWindow(next) });
    const { decision } = await proxy.check(requestTo("/about"));
    expect(decision).toMatchObject({ limit: 3, remaining: 2 });
  });

  it("applies what it inherits beside its rules, and alone where none matches", async () => {
    const proxy = rateLimitProxy({
      limiter: loginLimiter(),
      ...shared,
      inherit: ["perIp"],
      rules: [{ path: "/api/items/:id", policies: ["item"] }],
    });
    const names = async (path: string) =>
      (await proxy.check(requestTo(path))).decision?.outcomes.map(({ policy }) => policy.name);
    expect(await names("/api/items/1")).toEqual(["perIp", "item"]);
    expect(await names("/about")).toEqual(["perIp"]);
  });

  it.each([
    ["login", 'rateLimitProxy: policy "login" counts by how requests go'],
    ["item", 'rateLimitProxy: inherited policy "item" counts by "route": give the option route'],
    ["gone", 'policy "gone" is not one of this limiter\'s'],
  ])("inherits no %s, unless that is overridden or has its route", (name, message) => {
    const inherit = [name as "login"];
    const rules = [{ path: "/", policies: ["perIp"] as ["perIp"] }];
    const mount = { limiter: loginLimiter(), ...shared, inherit, rules };
    expect(() => rateLimitProxy(mount)).toThrow(message);
    if (name === "gone") return;
    expect(() => rateLimitProxy({ ...mount, override: { [name]: false } })).not.toThrow();
    if (name === "item") expect(() => rateLimitProxy({ ...mount, route: "/" })).not.toThrow();
  });

  it("counts by the pattern of the rule that names a policy by route", async () => {
    const proxy = rateLimitProxy({
      limiter: loginLimiter(),
      ...shared,
      rules: [
        { path: "/api/:path*", policies: ["perIp"] },
        { path: "/api/items/:id", policies: ["item"] },
        { path: "/api/users/:id", policies: ["item"] },
      ],
    });
    const left = async (path: string) => {
      const { decision } = await proxy.check(requestTo(path));
      return decision?.outcomes.find(({ policy }) => policy.name === "item")?.remaining;
    };
    expect(await left("/api/items/1")).toBe(8);
    expect(await left("/api/items/2")).toBe(7);
    expect(await left("/api/users/1")).toBe(8);
  });

  it("gives callers the numbers of their tier", async () => {
    const proxy = rateLimitProxy({
      limiter: loginLimiter(),
      ...shared,
      tier: (request) => request.headers.get("x-plan") ?? undefined,
      rules: [{ path: "/api/:path*", policies: ["perIp"] }],
    });
    const { decision } = await proxy.check(requestTo("/api/a", { headers: { "x-plan": "pro" } }));
    expect(decision).toMatchObject({ limit: 99, remaining: 98 });
  });

  it("asks for a caller's limits by the whole identity, though the policy counts by address", async () => {
    const seen: unknown[] = [];
    const proxy = rateLimitProxy({
      limiter: loginLimiter(),
      ...shared,
      identify: () => ({ tenant: "t1" }),
      limits: {
        perIp: (identity) => {
          seen.push(identity);
          return { limit: 7 };
        },
      },
      rules: [{ path: "/api/:path*", policies: ["perIp"], identify: () => ({ account: "a1" }) }],
    });
    const { decision } = await proxy.check(requestTo("/api/a"), { user: "ada" });
    expect(decision).toMatchObject({ limit: 7, remaining: 6 });
    expect(seen).toEqual([{ ip: "203.0.113.1", tenant: "t1", account: "a1", user: "ada" }]);
  });
});

describe("withRateLimit", () => {
  it("needs the option route for a policy that counts by it", async () => {
    const mount = { limiter: loginLimiter(), ...shared, policies: ["item"] as const };
    const ok = () => new Response("ok");
    await expect(withRateLimit(ok, mount)(requestTo("/items/1"), context)).rejects.toThrow(
      'withRateLimit: a policy counts by "route": give the option route, such as "/items/:id"',
    );
    const limited = withRateLimit(ok, { ...mount, route: "/items/:id" });
    await limited(requestTo("/items/1"), context);
    const { headers } = await limited(requestTo("/items/2"), context);
    expect(headers.get("x-ratelimit-remaining")).toBe("7");
  });

  it("asks for a caller's limits by the whole identity, though the policy counts by address", async () => {
    const seen: unknown[] = [];
    const limited = withRateLimit((_request, { decision }) => Response.json(decision?.limit), {
      limiter: loginLimiter(),
      ...shared,
      policies: ["perIp"],
      identify: () => ({ user: "ada" }),
      limits: {
        perIp: (identity) => {
          seen.push(identity);
          return { limit: 7 };
        },
      },
    });
    expect(await (await limited(requestTo("/"), context)).json()).toBe(7);
    expect(seen).toEqual([{ ip: "203.0.113.1", user: "ada" }]);
  });

  it("joins what it inherits with its own policies", async () => {
    const options = { limiter: loginLimiter(), ...shared, inherit: ["perIp"] as const };
    const names = (policies: readonly ["item"], more = {}) =>
      withRateLimit(
        (_request, { decision }) => Response.json(decision?.outcomes.map((one) => one.policy.name)),
        { ...options, policies, route: "/", ...more },
      )(requestTo("/"), context).then((response) => response.json());
    expect(await names(["item"])).toEqual(["perIp", "item"]);
    expect(await names(["item"], { override: { perIp: false } })).toEqual(["item"]);
  });
});
