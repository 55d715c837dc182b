import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtExample } from "./server/example.js";
import { type NextServer, startServer } from "./server/next-server.js";
import { type RedisServer, startRedis } from "./server/redis-server.js";

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
  let servers: readonly NextServer[] = [];

  beforeAll(async () => {
    const app = await builtExample();
    redis = await startRedis();
    const environment = { REDIS_URL: redis.url };
    servers = await Promise.all([startServer(app, environment), startServer(app, environment)]);
  }, 300_000);
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await redis?.stop();
  });

  it("admit exactly the limit of racing requests between them", async () => {
    const from = "203.0.113.4";
    const requests = Array.from({ length: 40 }, (_, index) =>
      servers[index % 2]?.send("/api/login", { method: "POST", from }),
    );
    const statuses = (await Promise.all(requests)).map((response) => response?.status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(35);
  });
});
