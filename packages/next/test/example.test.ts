import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BuiltApp, builtApp, builtExample } from "./server/app-build.js";
import { type NextServer, startServer } from "./server/next-server.js";
import { type RedisServer, startRedis } from "./server/redis-server.js";
import { next16Proxy } from "./server/variants.js";

describe("the example", () => {
  let server: NextServer;
  beforeAll(async () => {
    server = await startServer(await builtExample());
  }, 300_000);
  afterAll(() => server?.stop());

  it("limits its page in the proxy", async () => {
    const { status, headers } = await server.send("/", { from: "203.0.113.1" });
    expect(status).toBe(200);
    expect(headers["x-ratelimit-limit"]).toBe("200");
    expect(headers["x-ratelimit-remaining"]).toBe("199");
  });

  it("limits its route handler, which tells what is left", async () => {
    const { headers, body } = await server.send("/api/report", { from: "203.0.113.2" });
    expect(JSON.parse(body)).toEqual({ report: "sales", remaining: 9 });
    expect(headers["x-ratelimit-remaining"]).toBe("9");
  });

  it("refuses the sixth login of a minute", async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 6; count += 1)
      statuses.push(
        (await server.send("/api/login", { method: "POST", from: "203.0.113.3" })).status,
      );
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  });
});

describe("two servers that share one Redis", () => {
  let redis: RedisServer;
  const servers: NextServer[] = [];

  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await redis?.stop();
  });

  async function startTwo(app: BuiltApp): Promise<readonly [NextServer, NextServer]> {
    const environment = { REDIS_URL: redis.url };
    const pair = [startServer(app, environment), startServer(app, environment)] as const;
    const started = await Promise.all(pair);
    servers.push(...started);
    return started;
  }

  it("admit exactly the limit of racing requests between them", async () => {
    const pair = await startTwo(await builtApp(next16Proxy));
    const requests = Array.from({ length: 40 }, (_, index) =>
      pair[index % 2 === 0 ? 0 : 1].send("/api/shared", { method: "POST", from: "203.0.113.4" }),
    );
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(7);
    expect(statuses.filter((status) => status === 429)).toHaveLength(33);
  }, 300_000);

  it("count together in the example, too", async () => {
    const [first, second] = await startTwo(await builtExample());
    let round = 0;
    // Its deadline of 200 ms is short for a busy machine, on which each server would count for itself.
    await expect
      .poll(
        async () => {
          round += 1;
          const login = { method: "POST", from: `198.51.100.${round}` };
          for (let count = 0; count < 5; count += 1) await first.send("/api/login", login);
          return (await second.send("/api/login", login)).status;
        },
        { timeout: 20_000 },
      )
      .toBe(429);
  }, 300_000);
});
