import {
  fixedWindow,
  type PolicyDefinition,
  slidingWindow,
  slidingWindowCounter,
  tokenBucket,
} from "@headgate/core";
import { ManualClock } from "@headgate/core/testing";
import request from "supertest";
import { describe, expect, it, test } from "vitest";
import { decisionOf, rateLimit } from "../../src/index.js";
import { frameworks, startMs, timed } from "../servers.js";

const policies: Readonly<Record<string, PolicyDefinition>> = {
  "fixed window": fixedWindow({ limit: 4, window: 7_001 }),
  "first-request window": fixedWindow({ limit: 4, window: 7_001, anchor: "first-request" }),
  "sliding window": slidingWindow({ limit: 4, window: 7_001 }),
  "sliding window counter": slidingWindowCounter({ limit: 4, window: 7_001 }),
  "token bucket": tokenBucket({ limit: 3, window: 7_001, burst: 4 }),
};

describe.each(frameworks)("%s", (_, framework) => {
  function appOf(policy: PolicyDefinition) {
    const { clock, limit } = timed(policy, { standardHeaders: "draft-11" });
    const app = framework().use(limit);
    app.get("/", (req, response) => void response.json(decisionOf(req)));
    return { clock, get: () => request(app).get("/") };
  }

  async function refusedOf(policy: PolicyDefinition) {
    const { clock, get } = appOf(policy);
    let response = await get();
    while (response.status === 200) response = await get();
    return { clock, get, headers: response.headers, body: response.body };
  }

  it("T-1: the clock is read once, so that header, message and t agree", async () => {
    // A wall clock that runs on at every reading would tell several readings apart.
    let wall = startMs;
    let readings = 0;
    const limit = rateLimit({
      policy: fixedWindow({ limit: 1, window: "1h", anchor: "first-request" }),
      clock: new ManualClock(startMs),
      standardHeaders: "draft-11",
      wallClock: () => {
        readings += 1;
        wall += 60_000;
        return wall;
      },
    });
    const app = framework().use(limit);
    app.get("/", (_request, response) => void response.end());
    await request(app).get("/");
    readings = 0;
    const { headers, body } = await request(app).get("/");
    expect(readings).toBe(1);
    expect(headers["retry-after"]).toBe("3600");
    expect(headers["x-ratelimit-reset"]).toBe(String(Math.ceil((wall + 3_600_000) / 1000)));
    expect(headers.ratelimit).toContain(";t=3600");
    expect(body.error.message).toContain("3600 seconds");
  });

  it("T-2: the store's clock may be wrong: Reset counts from the application's wall clock", async () => {
    const limit = rateLimit({
      policy: fixedWindow({ limit: 1, window: "1m", anchor: "first-request" }),
      clock: new ManualClock(startMs + 30_000_000),
      wallClock: () => startMs,
    });
    const app = framework().use(limit);
    const { headers } = await request(app).get("/");
    expect(headers["x-ratelimit-reset"]).toBe(String(Math.ceil((startMs + 60_000) / 1000)));
  });

  it("T-2: without a wall clock of the test's own, Reset fits the Date field", async () => {
    const app = framework().use(
      rateLimit({ policy: fixedWindow({ limit: 1, window: "1m", anchor: "first-request" }) }),
    );
    const { headers } = await request(app).get("/");
    const seconds =
      Number(headers["x-ratelimit-reset"]) - Date.parse(headers.date as string) / 1000;
    expect([60, 61, 62]).toContain(seconds);
  });

  it("T-3: a wait of 41001 ms is told as 42 seconds, one of 1 ms and one of 1000 ms as 1", async () => {
    for (const [pauseMs, told] of [
      [18_999, "42"],
      [59_999, "1"],
      [59_000, "1"],
      [58_999, "2"],
    ] as const) {
      const { clock, get } = appOf(
        fixedWindow({ limit: 1, window: "1m", anchor: "first-request" }),
      );
      await get();
      clock.advance(pauseMs);
      expect((await get()).headers["retry-after"]).toBe(told);
    }
  });

  it("T-4: a token that is not whole yet is not told", async () => {
    const { clock, get } = appOf(tokenBucket({ limit: 1, window: 1_000, burst: 5 }));
    await get();
    await get();
    clock.advance(999);
    expect((await get()).headers["x-ratelimit-remaining"]).toBe("2");
    clock.advance(1);
    expect((await get()).headers["x-ratelimit-remaining"]).toBe("2");
  });

  test.each(Object.entries(policies))(
    "T-7: exactly Remaining further requests pass while the clock stands still: %s",
    async (_name, policy) => {
      const { clock, get } = appOf(policy);
      for (const stepMs of [0, 1_234, 3_333, 7_000, 1]) {
        clock.advance(stepMs);
        const first = await get();
        let further = 0;
        while ((await get()).status === 200) further += 1;
        expect(further).toBe(Number(first.headers["x-ratelimit-remaining"]));
      }
    },
  );

  test.each(Object.entries(policies))(
    "T-8: Reset is not before the instant of the retry: %s",
    async (_name, policy) => {
      const { clock, headers } = await refusedOf(policy);
      const resetMs = Number(headers["x-ratelimit-reset"]) * 1000;
      // One second less, because Retry-After itself is rounded up.
      expect(resetMs).toBeGreaterThan(clock.now() + (Number(headers["retry-after"]) - 1) * 1000);
    },
  );

  test.each(Object.entries(policies))(
    "T-9: waiting until Reset makes the limit as good as untouched: %s",
    async (_name, policy) => {
      const { clock, get, headers } = await refusedOf(policy);
      clock.set(Number(headers["x-ratelimit-reset"]) * 1000);
      const { body } = await get();
      expect([body.remaining, body.limit]).toEqual([3, 4]);
    },
  );

  test.each([
    ["a fixed window's end", fixedWindow({ limit: 2, window: "1m" }), "40", "1700000040"],
    ["the last admission's expiry", slidingWindow({ limit: 2, window: "1m" }), "60", "1700000061"],
    [
      "the time until the bucket is full",
      tokenBucket({ limit: 1, window: "1m", burst: 3 }),
      "60",
      "1700000181",
    ],
  ])("T-9: Reset is %s", async (_name, policy, retryAfter, reset) => {
    const { headers } = await refusedOf(policy);
    expect([headers["retry-after"], headers["x-ratelimit-reset"]]).toEqual([retryAfter, reset]);
  });
});
