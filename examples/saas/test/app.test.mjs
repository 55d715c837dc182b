import { ManualClock } from "@headgate/core/testing";
import { redisStore } from "@headgate/redis";
import { Redis } from "ioredis";
import request from "supertest";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startRedisServer } from "../../../packages/redis/test/servers/redis-server.ts";
import { createApp } from "../app.mjs";

/** A busy machine must not make Redis look as if it were down. */
const patientMs = 10_000;

let server;
let client;
beforeAll(async () => {
  server = await startRedisServer();
  client = new Redis(server.port, { lazyConnect: true });
});
afterAll(async () => {
  client.disconnect();
  await server.stop();
});

let prefix = 0;
const stores = {
  memory: () => undefined,
  Redis: (clock) => {
    prefix += 1;
    return redisStore(client, { clock, prefix: `saas${prefix}`, callTimeoutMs: patientMs });
  },
};

const fields = ({ status, headers }) => [
  status,
  headers["x-ratelimit-limit"],
  headers["x-ratelimit-remaining"],
];

describe.each(Object.entries(stores))("on %s", (_, storeOf) => {
  const open = async (run, options = {}) => {
    const clock = new ManualClock(1_700_000_000_000);
    const app = createApp({ store: storeOf(clock), clock, deadlineMs: patientMs, ...options });
    const as = (key) => ({
      get: (path) => request(app).get(path).set("x-api-key", key),
      post: (path, body) => request(app).post(path).set("x-api-key", key).send(body),
    });
    const login = (password, account = "ada") =>
      request(app).post("/login").send({ account, password });
    try {
      await run({
        app,
        clock,
        login,
        ada: as("key-ada"),
        grace: as("key-grace"),
        root: as("key-root"),
      });
    } finally {
      await app.locals.limiter.close();
    }
  };

  it("a plan gives other numbers of one policy", () =>
    open(async ({ ada, grace }) => {
      expect(fields(await ada.get("/projects"))).toEqual([200, "10", "9"]);
      expect(fields(await grace.get("/projects"))).toEqual([200, "50", "49"]);
    }));

  it("the tightest layer refuses, and the others are not charged", () =>
    open(async ({ app, ada }) => {
      for (let left = 9; left >= 0; left -= 1)
        expect(fields(await ada.get("/projects"))).toEqual([200, "10", String(left)]);
      for (let call = 0; call < 3; call += 1)
        expect(fields(await ada.get("/projects"))).toEqual([429, "10", "0"]);
      const { remaining } = await app.locals.limiter.peek("tenant", { tenant: "analytical" });
      expect(remaining).toBe(10);
    }));

  it("an expensive request costs by what it asks for", () =>
    open(async ({ ada }) => {
      expect((await ada.get("/report?months=8")).body).toEqual({ months: 8, left: 4 });
      const refused = await ada.get("/report?months=5");
      expect(fields(refused)).toEqual([429, "12", "4"]);
      expect((await ada.get("/report?months=4")).body).toEqual({ months: 4, left: 0 });
    }));

  it("a completion is settled with the tokens that it used, into debt as far as that is declared", () =>
    open(
      async ({ app, ada }) => {
        const tokensLeft = async () =>
          (await app.locals.limiter.peek("tokens", { tenant: "analytical" })).remaining;
        // 100 characters are estimated at 25 tokens.
        expect((await ada.post("/complete", { prompt: "x".repeat(100) })).body.tokens).toBe(10);
        expect(await tokensLeft()).toBe(990);
        expect((await ada.post("/complete", { prompt: "x".repeat(200) })).body.tokens).toBe(5000);
        expect(await tokensLeft()).toBe(0);
        const refused = await ada.post("/complete", { prompt: "abcd" });
        // 990 left and 500 of debt were charged; one token comes back in 60 ms.
        expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "31"]);
      },
      { complete: async (prompt) => ({ text: "", tokens: prompt.length === 100 ? 10 : 5000 }) },
    ));

  it("12 good logins at once lock nobody out", () =>
    open(async ({ login }) => {
      const answers = await Promise.all(Array.from({ length: 12 }, () => login("engine")));
      const good = answers.filter(({ status }) => status === 200);
      expect(good.length).toBeGreaterThanOrEqual(5);
      // Who was refused meanwhile was told an upper bound.
      for (const { status, headers } of answers)
        if (status !== 200) expect([status, headers["retry-after"]]).toEqual([429, "900"]);
      await vi.waitFor(async () => expect((await login("engine")).status).toBe(200));
    }));

  it("50 wrong passwords at once are checked 5 times", () =>
    open(async ({ login }) => {
      const answers = await Promise.all(Array.from({ length: 50 }, () => login("wrong")));
      const count = (wanted) => answers.filter(({ status }) => status === wanted).length;
      expect([count(401), count(429)]).toEqual([5, 45]);
    }));

  it("five wrong passwords are enough for 15 minutes, and ten within an hour for one more", () =>
    open(async ({ clock, login, ada, root }) => {
      const wrong = async () => (await login("wrong")).status;
      for (let attempt = 0; attempt < 5; attempt += 1) expect(await wrong()).toBe(401);
      const limited = await login("engine");
      expect([limited.status, limited.headers["retry-after"]]).toEqual([429, "900"]);
      clock.advance(900_000);
      for (let attempt = 0; attempt < 5; attempt += 1) expect(await wrong()).toBe(401);
      await vi.waitFor(async () => expect((await root.get("/bans")).body).toHaveLength(1));
      const banned = await login("engine");
      expect([banned.status, banned.headers["retry-after"]]).toEqual([429, "3600"]);

      expect((await ada.get("/bans")).status).toBe(403);
      const [ban] = (await root.get("/bans")).body;
      const ip = ban.subject.includes("127.0.0.1") ? "127.0.0.1" : "::";
      expect(ban).toMatchObject({ policyName: "login", endsInMs: 3_600_000 });
      expect((await root.post("/pardon", { ip, account: "ada" })).status).toBe(204);
      expect((await root.get("/bans")).body).toEqual([]);
    }));

  it("a success clears the failures before it", () =>
    open(async ({ login }) => {
      for (let attempt = 0; attempt < 4; attempt += 1) await login("wrong");
      expect((await login("engine")).status).toBe(200);
      await vi.waitFor(async () => {
        const { headers } = await login("wrong");
        expect(headers["x-ratelimit-remaining"]).toBe("4");
      });
    }));
});
