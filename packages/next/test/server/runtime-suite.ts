import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BuiltApp, builtApp } from "./app-build.js";
import { type NextServer, type Received, type SendOptions, startServer } from "./next-server.js";
import type { Variant } from "./variants.js";

/** The fields of every response, in the order limit, remaining, reset, with Retry-After behind. */
type Fields = readonly (string | undefined)[];

const resetSeconds = "1700000040";
const waitSeconds = "40";
const refused = "Too many requests. Retry after 40 seconds.";

function fieldsOf({ headers }: Received): Fields {
  return [
    headers["x-ratelimit-limit"],
    headers["x-ratelimit-remaining"],
    headers["x-ratelimit-reset"],
    headers["retry-after"],
  ];
}

const fields = (limit: number, remaining: number): Fields => [
  String(limit),
  String(remaining),
  resetSeconds,
  undefined,
];
const none: Fields = [undefined, undefined, undefined, undefined];

/** What a proxy and wrapped handlers do in a real `next start`, the same in every version and runtime. */
export function describeRuntime(variant: Variant): void {
  const { basePath = "" } = variant;
  let app: BuiltApp;
  let server: NextServer;
  let lastClient = 0;

  beforeAll(async () => {
    app = await builtApp(variant);
    server = await startServer(app);
  }, 300_000);
  afterAll(() => server?.stop());

  /** An address that no other test uses. */
  function newClient(): string {
    lastClient += 1;
    return `198.18.${lastClient >> 8}.${lastClient & 255}`;
  }

  function send(path: string, options: SendOptions = {}): Promise<Received> {
    const whole = path === "/" && basePath !== "" ? basePath : basePath + path;
    return server.send(whole, { from: newClient(), ...options });
  }

  async function exhaust(path: string, times: number, options: SendOptions = {}): Promise<string> {
    const from = newClient();
    for (let count = 0; count < times; count += 1) await send(path, { ...options, from });
    return from;
  }

  describe("the three fields stand on", () => {
    const responses: readonly [
      title: string,
      path: string,
      status: number,
      options?: SendOptions,
    ][] = [
      ["a page rendered for each request", "/", 200],
      ["a prerendered page", "/static", 200],
      ["a page of the Pages Router", "/data", 200],
      ["a route handler", "/api/echo", 200],
      ["a 404", "/nowhere", 404],
      ["a 500 of a page that throws", "/broken", 500],
      ["a redirect that a page throws", "/redirecting", 307],
      ["a redirect of the proxy", "/moved", 307],
      ["a redirect whose headers cannot be changed", "/moved-bare", 302],
      ["a rewrite of the proxy", "/rewritten", 200],
      ["a rewrite of next.config", "/renamed", 200],
      ["a HEAD", "/", 200, { method: "HEAD" }],
    ];

    it.each(responses)("%s", async (_title, path, status, options) => {
      const response = await send(path, options);
      expect(response.status).toBe(status);
      expect(fieldsOf(response)).toEqual(fields(5, 4));
    });

    it("a 304", async () => {
      const { headers } = await send("/static");
      const response = await send("/static", { headers: { "if-none-match": headers.etag ?? "" } });
      expect(response.status).toBe(304);
      expect(fieldsOf(response)).toEqual(fields(5, 4));
    });
  });

  it("sets no fields on a redirect of next.config, which comes before the proxy", async () => {
    const response = await send("/old");
    expect(response.status).toBe(307);
    expect(fieldsOf(response)).toEqual(none);
  });

  it("N-3: leaves out what the matcher leaves out", async () => {
    const response = await send("/asset.txt");
    expect(response.body).toBe("an asset\n");
    expect(fieldsOf(response)).toEqual(none);
  });

  it("counts down to 0, then refuses with 429, the wait and a JSON body", async () => {
    const from = newClient();
    for (const remaining of [4, 3, 2, 1, 0]) {
      const response = await send("/static", { from });
      expect(response.status).toBe(200);
      expect(fieldsOf(response)).toEqual(fields(5, remaining));
    }
    const response = await send("/static", { from });
    expect(response.status).toBe(429);
    expect(fieldsOf(response)).toEqual(["5", "0", resetSeconds, waitSeconds]);
    expect(response.headers["cache-control"]).toBe("no-store");
    expect(response.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(response.body).toBe(`{"error":{"code":"RATE_LIMITED","message":"${refused}"}}`);
  });

  it("N-19: sends a refusal's body whole, which Next streams", async () => {
    const from = await exhaust("/api/login", 2);
    const { body } = await send("/api/login", { from, method: "POST", body: "x".repeat(100_000) });
    expect(JSON.parse(body)).toEqual({ error: { code: "RATE_LIMITED", message: refused } });
  });

  it("refuses a HEAD without a body, out of the budget of GET", async () => {
    const from = await exhaust("/static", 5);
    const response = await send("/static", { from, method: "HEAD" });
    expect(response.status).toBe(429);
    expect(fieldsOf(response)).toEqual(["5", "0", resetSeconds, waitSeconds]);
    expect(response.body).toBe("");
  });

  it("C-7: puts the application's own headers on a refusal", async () => {
    const from = await exhaust("/static", 5);
    const { headers } = await send("/static", { from });
    expect(headers["access-control-allow-origin"]).toBe("https://shop.example");
  });

  it("N-12: refuses a browser's page with the message as text", async () => {
    const from = await exhaust("/static", 5);
    const accept = "text/html,application/xhtml+xml,*/*;q=0.8";
    const response = await send("/static", { from, headers: { accept } });
    expect(response.status).toBe(429);
    expect(response.headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect(response.body).toBe(refused);
  });

  it("N-11: refuses a Server Action with text/plain and no charset", async () => {
    const from = await exhaust("/order", 5);
    const headers = { "next-action": "00", "content-type": "text/plain;charset=UTF-8" };
    const response = await send("/order", { from, method: "POST", headers, body: "[]" });
    expect(response.status).toBe(429);
    expect(response.headers["content-type"]).toBe("text/plain");
    expect(response.body).toBe(refused);
  });

  it("N-5: shows a handler the proxy's fields on its request, whatever the client sent", async () => {
    const { body } = await send("/api/echo", { headers: { "x-ratelimit-remaining": "999" } });
    expect(JSON.parse(body)).toMatchObject({
      "x-ratelimit-limit": "5",
      "x-ratelimit-remaining": "4",
      "x-ratelimit-reset": resetSeconds,
    });
  });

  it("N-6: keeps the proxy's field where a Node.js handler sets the same one", async () => {
    const { headers } = await send("/api/owns");
    expect(headers["x-handler"]).toBe("1");
    expect(headers["x-ratelimit-limit"]).toBe("5");
  });

  it("N-6: joins the proxy's field and the one that an Edge handler sets", async () => {
    const { headers } = await send("/api/owns-edge");
    expect(headers["x-handler"]).toBe("1");
    expect(headers["x-ratelimit-limit"]).toBe("5, 100");
  });

  it("holds requests of a leaky bucket, and refuses what finds the queue full", async () => {
    const from = newClient();
    const startedAt = performance.now();
    const visits = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const { status } = await send("/api/held", { from });
        return { status, afterMs: performance.now() - startedAt };
      }),
    );
    const admitted = visits.filter(({ status }) => status === 200);
    const times = admitted.map(({ afterMs }) => afterMs).sort((a, b) => a - b);
    expect(visits.filter(({ status }) => status === 429)).toHaveLength(1);
    expect(times).toHaveLength(3);
    // One leaves every 200 ms. Timers may fire a millisecond early.
    expect(times[1]).toBeGreaterThanOrEqual(199);
    expect(times[2]).toBeGreaterThanOrEqual(399);
  });

  describe("a wrapped route handler", () => {
    it("N-8: finds its parameters and the decision in its second argument", async () => {
      const response = await send("/api/limited/json");
      expect(JSON.parse(response.body)).toEqual({ id: "json", remaining: 2 });
      expect(fieldsOf(response)).toEqual(fields(3, 2));
    });

    it("N-8: keeps each of several cookies", async () => {
      const response = await send("/api/limited/cookies");
      expect(response.cookies).toEqual(["a=1", "b=2"]);
      expect(fieldsOf(response)).toEqual(fields(3, 2));
    });

    it.each([
      ["a response whose headers cannot be changed", "immutable", 302, "https://shop.example/"],
      ["a response without a body", "empty", 204, undefined],
      ["redirect()", "redirect", 307, "/static"],
      ["notFound()", "missing", 404, undefined],
    ])("has the fields on %s", async (_title, kind, status, location) => {
      const response = await send(`/api/limited/${kind}`);
      expect(response.status).toBe(status);
      expect(response.headers.location).toBe(location);
      expect(fieldsOf(response)).toEqual(fields(3, 2));
    });

    it("answers a form with redirect() by 303, as Next does", async () => {
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      const response = await send("/api/limited/redirect", {
        method: "POST",
        headers,
        body: "a=1",
      });
      expect(response.status).toBe(303);
      expect(fieldsOf(response)).toEqual(fields(3, 2));
    });

    it("leaves an error to Next, whose 500 has no fields", async () => {
      const response = await send("/api/limited/broken");
      expect(response.status).toBe(500);
      expect(fieldsOf(response)).toEqual(none);
      expect(server.output()).toContain("broken on purpose");
    });

    it("never sees a refused request", async () => {
      const from = await exhaust("/api/limited/json", 3);
      const response = await send("/api/limited/json", { from });
      expect(response.status).toBe(429);
      expect(fieldsOf(response)).toEqual(["3", "0", resetSeconds, waitSeconds]);
      expect(response.body).toContain(refused);
    });

    it("N-9: serves HEAD out of the budget of GET", async () => {
      const from = await exhaust("/api/limited/json", 1, { method: "HEAD" });
      expect(fieldsOf(await send("/api/limited/json", { from }))).toEqual(fields(3, 1));
    });

    it("N-9: is not asked for OPTIONS, which Next answers itself", async () => {
      const response = await send("/api/limited/json", { method: "OPTIONS" });
      expect(response.status).toBe(204);
      expect(fieldsOf(response)).toEqual(none);
    });

    it("works on Edge", async () => {
      const response = await send("/api/limited-edge");
      expect(JSON.parse(response.body)).toEqual({ remaining: 2 });
      expect(fieldsOf(response)).toEqual(fields(3, 2));
    });

    it.each([
      [
        "x-middleware-subrequest",
        "proxy:proxy:proxy:proxy:proxy:middleware:middleware:src/middleware",
      ],
      ["x-middleware-next", "1"],
      ["x-middleware-invoke", "1"],
      ["x-middleware-rewrite", "/api/echo"],
      ["x-middleware-override-headers", "x-forwarded-for"],
      ["x-nextjs-data", "1"],
      ["x-invoke-path", "/api/echo"],
      ["x-matched-path", "/api/echo"],
      ["x-action-forwarded", "1"],
      ["x-prerender-revalidate", "1"],
      ["next-resume", "1"],
    ])("is not skipped by a forged %s, nor is the proxy", async (name, value) => {
      const headers = { [name]: value };
      const atHandler = await exhaust("/api/limited/json", 3, { headers });
      expect((await send("/api/limited/json", { from: atHandler, headers })).status).toBe(429);
      const atProxy = await exhaust("/api/login", 2, { headers });
      expect((await send("/api/login", { from: atProxy, headers })).status).toBe(429);
    });
  });

  describe("a wrapped route handler under a policy that counts failures", () => {
    const path = "/api/limited-tries";

    it("stays open to who succeeds, and is closed by responses and errors that are none", async () => {
      const from = newClient();
      const ends = ["good", "redirect", "good", "bad", "good", "broken", "good"];
      const statuses: number[] = [];
      for (const end of ends) statuses.push((await send(`${path}?end=${end}`, { from })).status);
      expect(statuses).toEqual([200, 307, 200, 401, 200, 500, 429]);
    });

    it("counts a client that hangs up before the handler ends, however well it ends", async () => {
      const from = newClient();
      const look = async () => JSON.parse((await send(path, { from, method: "POST" })).body);
      const leaving = new AbortController();
      const gone = fetch(`${server.url}${basePath}${path}?end=late`, {
        headers: { "x-forwarded-for": from },
        signal: leaving.signal,
      }).catch(() => "gone");
      await expect.poll(look).toEqual({ left: false, tries: 1 });
      leaving.abort();
      expect(await gone).toBe("gone");
      await expect.poll(look).toEqual({ left: true, tries: 1 });
    });
  });

  describe("N-17: a wrapped handler of the Pages API", () => {
    it("has the fields and knows the decision", async () => {
      const response = await send("/api/legacy");
      expect(JSON.parse(response.body)).toEqual({ remaining: 2 });
      expect(fieldsOf(response)).toEqual(fields(3, 2));
    });

    it("never sees a refused request", async () => {
      const from = await exhaust("/api/legacy", 3);
      const response = await send("/api/legacy", { from });
      expect(response.status).toBe(429);
      expect(fieldsOf(response)).toEqual(["3", "0", resetSeconds, waitSeconds]);
      expect(response.headers.etag).toBeUndefined();
    });
  });

  it("N-16: counts in one place for the proxy and the routes of a process, and apart on Edge", async () => {
    const from = await exhaust("/api/login", 2);
    const { status } = await send("/api/limited/login", { from });
    const onEdge = variant.file === "middleware" && variant.runtime === undefined;
    expect(status).toBe(onEdge ? 200 : 429);
  });

  it("N-14: is passed by a revalidation that carries the build's secret, and by no other", async () => {
    const from = await exhaust("/static", 5);
    const secret = { "x-prerender-revalidate": app.previewSecret() };
    const response = await send("/static", { from, method: "HEAD", headers: secret });
    expect(response.status).toBe(200);
    expect(response.headers["x-nextjs-cache"]).toBe("REVALIDATED");
    expect(fieldsOf(response)).toEqual(none);
  });

  it("N-16: counts in one place for all routes of a process, and apart on Edge", async () => {
    const from = await exhaust("/api/limited/json", 1);
    expect(JSON.parse((await send("/api/legacy", { from })).body)).toEqual({ remaining: 1 });
    expect(JSON.parse((await send("/api/limited-edge", { from })).body)).toEqual({ remaining: 2 });
  });

  describe("N-10: an address", () => {
    it.each([
      ["entries forged on the left", (count: number) => `10.0.0.${count}, 203.0.113.1`],
      ["a new port each time", (count: number) => `203.0.113.2:${40_000 + count}`],
      [
        "other spellings",
        (count: number) =>
          [" 203.0.113.3 ", "::ffff:203.0.113.3", "[::ffff:203.0.113.3]:9"][count % 3] ?? "",
      ],
      ["rotation inside an IPv6 prefix", (count: number) => `2001:db8:1:1${count}::${count}`],
    ])("with %s mints no budget", async (_title, addressOf) => {
      for (const count of [0, 1, 2]) await send("/api/limited/json", { from: addressOf(count) });
      expect((await send("/api/limited/json", { from: addressOf(3) })).status).toBe(429);
    });

    it("of junk shares one bucket with all junk", async () => {
      const junk = ["unknown", "<script>", "999.1.1.1", "0x7f.1", "a".repeat(300), "_hidden"];
      const statuses: number[] = [];
      for (const from of junk) statuses.push((await send("/api/limited/json", { from })).status);
      expect(statuses).toEqual([200, 200, 200, 429, 429, 429]);
    });

    it("is that of the socket where no proxy sent one", async () => {
      const responses: Received[] = [];
      for (let count = 0; count < 4; count += 1)
        responses.push(await server.send(`${basePath}/api/limited/json`));
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    });
  });

  describe("a spelling of a path that reaches its handler shares the budget:", () => {
    const spellings = [
      ...[
        "/api/login",
        "/api/login/",
        "//api/login",
        "/api//login",
        "/api/%6Cogin",
        "/%61pi/login",
      ],
      ...[
        "/API/login",
        "/api/LOGIN",
        "/api/login?x=1",
        "/api/login#x",
        "/api/login%2F",
        "/api%2Flogin",
      ],
      ...[
        "/api\\login",
        "/./api/login",
        "/api/x/../login",
        "/api/login/.",
        "/api/login/%2e",
        "/%2e%2e/api/login",
      ],
      ...[
        "/api/%256Cogin",
        "/api/login;a=1",
        "/api/login%00",
        "/api/%E0%A4%A",
        "/api/login.json",
        "/api/login.rsc",
      ],
      ...[
        "/_next/data/x/api/login.json",
        "/en/api/login",
        "/nl/api/login",
        "/api/login//",
        "/api/login/x/..;/",
        "/api/limited/../login",
        "/api/limited/%2e%2e/login",
        "/api/limited/..%2flogin",
        "/_next/static/../../api/login",
        "/_next/static/%2e%2e/%2e%2e/api/login",
        "/asset.txt/../api/login",
        "/_next/image/..\\..\\api\\login",
      ],
    ].map((path) => ["/api/login", path, "login reached"] as const);
    const ids = [
      "/api/accounts/7",
      "/api/%61ccounts/7",
      "/api/accounts/7/",
      "/api/accounts/%37",
      "//api/accounts/7",
      "/api/accounts/7%2F8",
      "/api/accounts/7%5C8",
      "/api/accounts/7%3F8",
      "/api/accounts/7%238",
      "/api/accounts/7%0A8",
    ].map((path) => ["/api/accounts/8", path, "account "] as const);

    it.each([...spellings, ...ids])("%s as %s", async (plain, spelling, reached) => {
      const from = await exhaust(plain, 2);
      const response = await send(spelling, { from });
      expect(response.body).not.toContain(reached);
      expect([308, 400, 404, 429]).toContain(response.status);
    });

    it("/data as the data of its page", async () => {
      const from = newClient();
      const page = await send("/data", { from });
      const build = /"buildId":"([^"]+)"/.exec(page.body)?.[1];
      const headers = { "x-nextjs-data": "1" };
      const language = variant.locales === undefined ? "" : "/nl";
      const data = await send(`/_next/data/${build}${language}/data.json`, { from, headers });
      expect(data.body).toContain("on the server");
      expect(fieldsOf(data)).toEqual(fields(5, 3));
      if (language !== "")
        expect(fieldsOf(await send(`${language}/data`, { from }))).toEqual(fields(5, 2));
    });
  });
}
