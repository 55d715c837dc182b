import type { HeadgateError } from "@headgate/core";
import { NextResponse } from "next/server.js";
import { describe, expect, it, vi } from "vitest";
import { type RateLimitProxyOptions, rateLimitProxy } from "../src/index.js";
import { requestTo, shared, type TestPolicy, testLimiter } from "./limits.js";

type Options = RateLimitProxyOptions<TestPolicy>;

function proxyWith(rules: Options["rules"], options: Partial<Options> = {}) {
  return rateLimitProxy({ limiter: testLimiter(), ...shared, rules, ...options });
}

async function statuses(count: number, ask: () => Promise<Response>): Promise<readonly number[]> {
  const seen: number[] = [];
  for (let index = 0; index < count; index += 1) seen.push((await ask()).status);
  return seen;
}

/** The limiter with answers that come later. */
function slowed(limiter: Options["limiter"]): Options["limiter"] {
  return new Proxy(limiter, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name === "decide")
        return async (...charges: Parameters<typeof limiter.decide>) => {
          await new Promise((later) => setTimeout(later, 5));
          return target.decide(...charges);
        };
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

describe("rateLimitProxy", () => {
  it("N-4: goes on with NextResponse.next() and the fields", async () => {
    const response = await proxyWith([{ path: "/a", policies: ["small"] }])(requestTo("/a"));
    expect(response.headers.get("x-middleware-next")).toBe("1");
    expect(response.headers.get("x-ratelimit-remaining")).toBe("1");
  });

  it("N-15: has counted when it answers, whatever the store's delay", async () => {
    const limiter = testLimiter();
    const slow = slowed(limiter);
    const proxy = proxyWith([{ path: "/a", policies: ["small"] }], { limiter: slow });
    await proxy(requestTo("/a"));
    expect(limiter.peek("small", { ip: "203.0.113.1" })).toMatchObject({ remaining: 1 });
  });

  it("counts nothing where no rule matches", async () => {
    const proxy = proxyWith([{ path: "/a", methods: ["POST"], policies: ["small"] }]);
    for (const request of [requestTo("/b"), requestTo("/a")]) {
      const response = await proxy(request);
      expect(response.headers.get("x-middleware-next")).toBe("1");
      expect(response.headers.has("x-ratelimit-limit")).toBe(false);
    }
  });

  it("limits HEAD with GET", async () => {
    const proxy = proxyWith([{ path: "/a", methods: ["GET"], policies: ["small"] }]);
    expect(await statuses(3, () => proxy(requestTo("/a", { method: "HEAD" })))).toEqual([
      200, 200, 429,
    ]);
    expect((await proxy(requestTo("/a"))).status).toBe(429);
  });

  it("neither counts nor marks a CORS preflight", async () => {
    const proxy = proxyWith([{ path: "/a", policies: ["small"] }]);
    const headers = { origin: "https://a.example", "access-control-request-method": "POST" };
    const ask = () => proxy(requestTo("/a", { method: "OPTIONS", headers }));
    expect(await statuses(3, ask)).toEqual([200, 200, 200]);
    expect((await ask()).headers.has("x-ratelimit-limit")).toBe(false);
  });

  it("applies all matching rules as one decision: a refusal by one charges none", async () => {
    const limiter = testLimiter();
    const proxy = proxyWith(
      [
        { path: "/api/login", policies: ["small"] },
        { path: "/api/:path*", policies: ["large"] },
      ],
      { limiter },
    );
    expect(await statuses(5, () => proxy(requestTo("/api/login")))).toEqual([
      200, 200, 429, 429, 429,
    ]);
    const response = await proxy(requestTo("/api/other"));
    expect(response.headers.get("x-ratelimit-remaining")).toBe("7");
  });

  it("charges a policy that several rules name once, at the largest of their costs", async () => {
    const proxy = proxyWith([
      { path: "/a", policies: ["large"], cost: 2 },
      { path: "/:path*", policies: ["large"], cost: () => ({ large: 4 }) },
      { path: "/:path*", policies: ["small"] },
    ]);
    const { decision } = await proxy.check(requestTo("/a"));
    expect(decision?.outcomes.map(({ policy, remaining }) => [policy.name, remaining])).toEqual([
      ["large", 6],
      ["small", 1],
    ]);
  });

  it("gives a wrong cost to the policy's failure mode, and says so", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const proxy = proxyWith([
      { path: "/a", policies: ["large"], cost: () => Number.NaN },
      { path: "/a", policies: ["large"], cost: 3 },
    ]);
    const { decision } = await proxy.check(requestTo("/a"));
    expect(decision?.remaining).toBe(9);
    expect(warned).toHaveBeenCalledWith(expect.stringContaining("NaN"), expect.anything());
    warned.mockRestore();
  });

  it("counts by what a rule identifies, before what all share", async () => {
    const proxy = proxyWith(
      [
        {
          path: "/a",
          policies: ["perAccount"],
          identify: (request) => ({
            account: request.nextUrl.searchParams.get("account") ?? undefined,
          }),
        },
        { path: "/:path*", policies: ["perAccount"] },
      ],
      { identify: () => ({ account: "shared" }) },
    );
    expect(await statuses(4, () => proxy(requestTo("/a?account=7")))).toEqual([200, 200, 200, 429]);
    expect((await proxy(requestTo("/a?account=8"))).status).toBe(200);
    expect(await statuses(4, () => proxy(requestTo("/b")))).toEqual([200, 200, 200, 429]);
  });

  it("holds a request whose rules name two leaky buckets in the first of them, with a warning", async () => {
    const proxy = proxyWith([
      { path: "/:path*", policies: ["queue"] },
      { path: "/a", policies: ["otherQueue"] },
    ]);
    const warning = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const { decision } = await proxy.check(requestTo("/a"));
    expect(decision?.outcomes.map(({ policy }) => policy.name)).toEqual(["queue"]);
    expect(warning).toHaveBeenCalledWith(
      expect.stringContaining('policies "queue" and "otherQueue"'),
      expect.objectContaining({ code: "HEADGATE_QUEUES" }),
    );
    warning.mockRestore();
  });

  it("rethrows what the application's own functions throw", async () => {
    const proxy = proxyWith([
      {
        path: "/a",
        policies: ["perAccount"],
        identify: () => {
          throw new Error("no session");
        },
      },
    ]);
    await expect(proxy(requestTo("/a"))).rejects.toThrow("no session");
  });

  it("N-12: refuses what asks for text/html in text, and keeps the application's own body", async () => {
    const headers = { accept: "text/html" };
    const rules: Options["rules"] = [{ path: "/a", policies: ["small"], cost: 2 }];
    const plain = proxyWith(rules);
    await plain(requestTo("/a"));
    expect(await (await plain(requestTo("/a", { headers }))).text()).toMatch(
      /^Too many requests\. Retry/,
    );
    const own = proxyWith(rules, {
      body: () => ({ contentType: "text/html", body: "<p>slow down</p>" }),
    });
    await own(requestTo("/a"));
    const response = await own(requestTo("/a", { headers }));
    expect(response.headers.get("content-type")).toBe("text/html");
    expect(await response.text()).toBe("<p>slow down</p>");
  });

  it("C-7: adds the application's headers to a refusal, which cannot take away its own", async () => {
    const proxy = proxyWith([{ path: "/a", policies: ["small"], cost: 2 }], {
      exposeHeaders: true,
      refusalHeaders: (request) => ({
        "Access-Control-Allow-Origin": request.headers.get("origin") ?? "",
        "Access-Control-Expose-Headers": "X-Mine",
        "Retry-After": "0",
      }),
    });
    const headers = { origin: "https://a.example" };
    await proxy(requestTo("/a"));
    const response = await proxy(requestTo("/a", { headers }));
    expect(response.status).toBe(429);
    expect(response.headers.get("access-control-allow-origin")).toBe("https://a.example");
    expect(response.headers.get("access-control-expose-headers")).toMatch(/^X-Mine, Retry-After, /);
    expect(response.headers.get("retry-after")).toBe("40");
  });

  it("refuses a request without its key by 403 where that is asked for", async () => {
    const proxy = proxyWith([{ path: "/a", policies: ["perAccount"] }], { onMissingKey: "deny" });
    const response = await proxy(requestTo("/a", { headers: { "next-action": "00" } }));
    expect(response.status).toBe(403);
    expect(response.headers.get("content-type")).toBe("text/plain");
    expect(response.headers.has("retry-after")).toBe(false);
  });
});

describe("check", () => {
  const rules: Options["rules"] = [{ path: "/:path*", policies: ["perAccount"] }];

  it("counts by what the caller has found out, when it authenticates first", async () => {
    const limits = proxyWith(rules);
    const proxy = async (account: string | undefined): Promise<Response> => {
      if (account === undefined) return NextResponse.redirect("https://shop.example/login");
      const { refusal, applyTo } = await limits.check(requestTo("/a"), { account });
      return refusal ?? applyTo(NextResponse.next());
    };
    expect(await statuses(4, () => proxy("7"))).toEqual([200, 200, 200, 429]);
    expect((await proxy("8")).status).toBe(200);
    expect((await proxy(undefined)).status).toBe(307);
  });

  it.each([
    ["a rewrite", () => NextResponse.rewrite("https://shop.example/b")],
    ["a redirect", () => NextResponse.redirect("https://shop.example/b")],
    [
      "request headers of its own",
      () => NextResponse.next({ request: { headers: new Headers({ "x-user": "7" }) } }),
    ],
  ])("puts the fields on %s, and changes nothing else", async (_title, make) => {
    const { applyTo } = await proxyWith(rules).check(requestTo("/a"), { account: "7" });
    const before = [...make().headers];
    const after = applyTo(make());
    expect(after.headers.get("x-ratelimit-limit")).toBe("3");
    expect([...after.headers].filter(([name]) => !name.startsWith("x-ratelimit-"))).toEqual(before);
  });

  it("N-7: copies a response whose headers cannot be changed", async () => {
    const { applyTo } = await proxyWith(rules).check(requestTo("/a"), { account: "7" });
    const redirect = Response.redirect("https://shop.example/b", 302);
    const response = applyTo(redirect);
    expect(response.status).toBe(302);
    expect(response.headers.get("location")).toBe("https://shop.example/b");
    expect(response.headers.get("x-ratelimit-limit")).toBe("3");
  });

  it("leaves a response alone that cannot be copied", async () => {
    const { applyTo } = await proxyWith(rules).check(requestTo("/a"), { account: "7" });
    const failed = Response.error();
    expect(applyTo(failed)).toBe(failed);
  });

  it("keeps the IETF fields off a redirect", async () => {
    const limits = proxyWith(rules, { standardHeaders: "draft-11" });
    const { applyTo } = await limits.check(requestTo("/a"), { account: "7" });
    const redirect = applyTo(NextResponse.redirect("https://shop.example/b"));
    expect(redirect.headers.has("ratelimit")).toBe(false);
    expect(redirect.headers.get("x-ratelimit-limit")).toBe("3");
    expect(applyTo(NextResponse.next()).headers.get("ratelimit")).toBe('"perAccount";r=2;t=60');
  });

  it("X-1: keeps the three fields on a redirect, whatever their prefix", async () => {
    const limits = proxyWith(rules, { headerPrefix: "RateLimit", standardHeaders: "draft-11" });
    const { applyTo } = await limits.check(requestTo("/a"), { account: "7" });
    const redirect = applyTo(NextResponse.redirect("https://shop.example/b"));
    expect(redirect.headers.get("ratelimit-limit")).toBe("3");
    expect(redirect.headers.has("ratelimit-policy")).toBe(false);
  });

  it("charges one request once, however often it is asked", async () => {
    const limits = proxyWith(rules);
    const request = requestTo("/a");
    await limits.check(request, { account: "7" });
    const { decision } = await limits.check(request, { account: "7" });
    expect(decision?.remaining).toBe(2);
  });

  it("holds a request of a leaky bucket, and gives it up when its client goes", async () => {
    const limits = proxyWith([{ path: "/:path*", policies: ["queue"] }]);
    await limits.check(requestTo("/a"));
    const leaving = new AbortController();
    const held = limits.check(requestTo("/a", { signal: leaving.signal }));
    leaving.abort();
    const { refusal } = await held;
    expect(refusal?.status).toBe(499);
  });

  it("lets held requests go on when the limiter closes", async () => {
    const limiter = testLimiter();
    const limits = proxyWith([{ path: "/:path*", policies: ["queue"] }], { limiter });
    const held = [1, 2, 3, 4, 5].map(() => limits.check(requestTo("/a")));
    await limits.check(requestTo("/b"));
    await limiter.close();
    expect((await Promise.all(held)).map(({ refusal }) => refusal)).toEqual(
      [1, 2, 3, 4, 5].map(() => undefined),
    );
  });
});

describe("construction", () => {
  const valid = { limiter: testLimiter(), ...shared, rules: [{ path: "/a", policies: ["small"] }] };
  it.each([
    ["N-10: no address source", { ip: undefined }, "INVALID_OPTION", /ip must say where/],
    ["no proxies", { ip: { trustedProxies: 0 } }, "INVALID_OPTION", /at least one proxy/],
    ["no ranges", { ip: { trustedProxies: [] } }, "INVALID_OPTION", /at least one proxy/],
    ["a source of no kind", { ip: { proxies: 1 } }, "INVALID_OPTION", /^ip: /],
    ["no limiter", { limiter: undefined }, "INVALID_OPTION", /limiter must be/],
    ["no rules", { rules: [] }, "INVALID_OPTION", /rules must be/],
    ["a list without rules", { rules: [undefined] }, "INVALID_OPTION", /rules\[0\]: must be/],
    [
      "a rule whose policies are chosen by a function",
      { rules: [{ path: "/a", policies: () => ["small"] }] },
      "INVALID_OPTION",
      /rules\[0\]\.policies/,
    ],
    [
      "a rule whose identity is no function",
      { rules: [{ path: "/a", policies: ["small"], identify: "account" }] },
      "INVALID_OPTION",
      /rules\[0\]\.identify/,
    ],
    ["a cost beside the rules", { cost: 2 }, "INVALID_OPTION", /^rateLimitProxy: cost/],
    ["an unknown option", { header: true }, "INVALID_OPTION", /^header: /],
    [
      "an unknown option of a rule",
      { rules: [{ path: "/a", policy: "small" }] },
      "INVALID_OPTION",
      /rules\[0\]\.policy/,
    ],
    [
      "a rule without a policy",
      { rules: [{ path: "/a", policies: [] }] },
      "UNKNOWN_POLICY",
      /at least one policy/,
    ],
    [
      "an unknown policy",
      { rules: [{ path: "/a", policies: ["tiny"] }] },
      "UNKNOWN_POLICY",
      /"tiny"/,
    ],
    [
      "a method that is none",
      { rules: [{ path: "/a", methods: ["post"], policies: ["small"] }] },
      "INVALID_OPTION",
      /methods/,
    ],
    [
      "a cost that never fits",
      { rules: [{ path: "/a", policies: ["small"], cost: 3 }] },
      "INVALID_OPTION",
      /capacity 2/,
    ],
    [
      "two queues in one rule",
      { rules: [{ path: "/a", policies: ["queue", "otherQueue"] }] },
      "INVALID_OPTION",
      /leaky bucket/,
    ],
  ])("with %s is an error that says so", (_title, wrong, code, message) => {
    const make = () => rateLimitProxy({ ...valid, ...wrong } as unknown as Options);
    expect(make).toThrow(
      expect.objectContaining<Partial<HeadgateError>>({ code } as Partial<HeadgateError>),
    );
    expect(make).toThrow(message);
  });
});
