import {
  createLimiter,
  type FailureMode,
  fixedWindow,
  type Reason,
  slidingWindow,
} from "@headgate/core";
import { ManualClock } from "@headgate/core/testing";
import request from "supertest";
import { describe, expect, it, test, vi } from "vitest";
import { decisionOf, rateLimit, rateLimits } from "../../src/index.js";
import { FailingStore } from "../failing-store.js";
import { frameworks, startMs, timed } from "../servers.js";

interface Seen {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly limit: string | undefined;
  readonly remaining: string | undefined;
  readonly reset: string | undefined;
}

function seen({ status, headers }: request.Response): Seen {
  return {
    status,
    retryAfter: headers["retry-after"],
    limit: headers["x-ratelimit-limit"],
    remaining: headers["x-ratelimit-remaining"],
    reset: headers["x-ratelimit-reset"],
  };
}

const unavailable = {
  error: {
    code: "RATE_LIMITER_UNAVAILABLE",
    message: "The rate limiter is unavailable. Retry after 1 second.",
  },
};

describe.each(frameworks)("%s", (_, framework) => {
  it("S-1: a refused request gets 429, and repeated ones still do", async () => {
    const { limit } = timed(fixedWindow({ limit: 1, window: "1m" }));
    const app = framework().use(limit);
    app.get("/", (_request, response) => void response.end());
    const statuses: number[] = [];
    for (let call = 0; call < 4; call += 1) statuses.push((await request(app).get("/")).status);
    expect(statuses).toEqual([200, 429, 429, 429]);
  });

  /** Policies of the given failure modes, with capacities 10, 20, 30 … in order, over a store that fails. */
  function failing(modes: readonly FailureMode[], options: { limits?: readonly number[] } = {}) {
    const store = new FailingStore();
    const clock = new ManualClock(startMs);
    const names = modes.map((mode, index) => `${mode}${index}`);
    const policies = Object.fromEntries(
      modes.map((mode, index) => [
        names[index] as string,
        slidingWindow({
          limit: options.limits?.[index] ?? 10 * (index + 1),
          window: "1m",
          onStoreFailure: mode,
        }),
      ]),
    );
    const errors: string[] = [];
    const limiter = createLimiter({
      store,
      clock,
      policies,
      onStoreError: ({ code }) => errors.push(code),
    });
    const handle = vi.fn();
    const limit = rateLimits({ limiter, wallClock: () => clock.now() });
    const app = framework().use(limit(...(names as [string, ...string[]])));
    app.get("/", (req, response) => {
      handle();
      response.json({ degraded: decisionOf(req)?.degraded, reason: decisionOf(req)?.reason });
    });
    return { get: () => request(app).get("/"), store, clock, handle, errors };
  }

  it("S-2: a failed store under a closed policy is 503 with its own code, never 429", async () => {
    const { get, handle } = failing(["closed"]);
    const response = await get();
    expect(response.status).toBe(503);
    expect(response.body).toEqual(unavailable);
    expect(response.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(handle).not.toHaveBeenCalled();
  });

  const closedAt = (limit: string): Seen => ({
    status: 503,
    retryAfter: "1",
    limit,
    remaining: undefined,
    reset: undefined,
  });
  const openAt = (limit: string): Seen => ({
    ...closedAt(limit),
    status: 200,
    retryAfter: undefined,
  });
  const localAt = (limit: string, remaining: string): Seen => ({
    status: 200,
    retryAfter: undefined,
    limit,
    remaining,
    reset: String(Math.ceil((startMs + 60_000) / 1000)),
  });

  test.each<[readonly FailureMode[], Seen, string]>([
    [["local"], localAt("10", "9"), "local"],
    [["open"], openAt("10"), "open"],
    [["closed"], closedAt("10"), "closed"],
    [["open", "open"], openAt("10"), "open"],
    [["local", "local"], localAt("10", "9"), "local"],
    [["closed", "closed"], closedAt("10"), "closed"],
    [["open", "local"], localAt("20", "19"), "local"],
    [["local", "open"], localAt("10", "9"), "local"],
    [["open", "closed"], closedAt("20"), "closed"],
    [["local", "closed"], closedAt("20"), "closed"],
    [["closed", "local"], closedAt("10"), "closed"],
    [["open", "local", "closed"], closedAt("30"), "closed"],
    [["open", "closed", "local", "closed"], closedAt("20"), "closed"],
    [["open", "local", "open"], localAt("20", "19"), "local"],
  ])("S-3: while the store fails, %j is answered so", async (modes, expected, degraded) => {
    const { get } = failing(modes);
    const response = await get();
    expect(seen(response)).toEqual(expected);
    if (expected.status === 200) expect(response.body.degraded).toBe(degraded);
    else expect(response.body).toEqual(unavailable);
  });

  it("S-3: local enforces the policy in process, with a real refusal at its end", async () => {
    const { get } = failing(["open", "local"], { limits: [1, 2] });
    expect((await get()).status).toBe(200);
    expect((await get()).status).toBe(200);
    expect(seen(await get())).toEqual({ ...localAt("2", "0"), status: 429, retryAfter: "60" });
  });

  it("S-3: a closed refusal charges nothing to the local policies beside it", async () => {
    const store = new FailingStore();
    const limiter = createLimiter({
      store,
      clock: new ManualClock(startMs),
      onStoreError: () => {},
      policies: {
        near: slidingWindow({ limit: 1, window: "1m" }),
        strict: slidingWindow({ limit: 9, window: "1m", onStoreFailure: "closed" }),
      },
    });
    const limit = rateLimits({ limiter });
    const app = framework();
    app.get("/both", limit("near", "strict"), (_request, response) => void response.end());
    app.get("/near", limit("near"), (_request, response) => void response.end());
    expect((await request(app).get("/both")).status).toBe(503);
    expect((await request(app).get("/near")).status).toBe(200);
  });

  it("S-3: while the breaker is open, Retry-After is the time to the next probe, and the store is spared", async () => {
    const { get, store, clock, errors } = failing(["closed"]);
    for (let call = 0; call < 5; call += 1) await get();
    expect(store.calls).toBe(5);
    expect(seen(await get())).toEqual(closedAt("10"));
    expect(store.calls).toBe(5);
    // Failed probes double the time: 2 s, then 4 s.
    clock.advance(1_000);
    await get();
    expect((await get()).headers["retry-after"]).toBe("2");
    clock.advance(2_000);
    await get();
    expect((await get()).headers["retry-after"]).toBe("4");
    clock.advance(4_000);
    store.state = "up";
    expect(seen(await get())).toEqual(localAtLater("10", "9", clock.now()));
    expect(new Set(errors)).toEqual(new Set(["STORE_FAILURE", "STORE_CIRCUIT_OPEN"]));
  });

  const localAtLater = (limit: string, remaining: string, nowMs: number): Seen => ({
    ...localAt(limit, remaining),
    reset: String(Math.ceil((nowMs + 60_000) / 1000)),
  });

  it("S-3: a store that never answers is a failure after the deadline", async () => {
    const store = new FailingStore();
    store.state = "hanging";
    const app = framework().use(
      rateLimit({
        policy: slidingWindow({ limit: 10, window: "1m", onStoreFailure: "open" }),
        store,
        deadlineMs: 20,
        onStoreError: () => {},
      }),
    );
    app.get("/", (_request, response) => void response.end());
    expect(seen(await request(app).get("/"))).toEqual(openAt("10"));
  });

  it("S-3: fields of an outer limiter survive an inner one that fails open", async () => {
    const store = new FailingStore();
    const outer = timed(slidingWindow({ limit: 7, window: "1m" }));
    const inner = rateLimit({
      policy: slidingWindow({ name: "inner", limit: 3, window: "1m", onStoreFailure: "open" }),
      store,
      onStoreError: () => {},
    });
    const app = framework().use(outer.limit, inner);
    app.get("/", (_request, response) => void response.end());
    const { headers } = await request(app).get("/");
    expect([headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]]).toEqual(["7", "6"]);
  });

  it("S-3: of two limiters that both fail open, the first one's Limit stands", async () => {
    const open = (name: string, limit: number) =>
      rateLimit({
        policy: slidingWindow({ name, limit, window: "1m", onStoreFailure: "open" }),
        store: new FailingStore(),
        onStoreError: () => {},
      });
    const app = framework().use(open("a", 11), open("b", 12));
    app.get("/", (_request, response) => void response.end());
    expect(seen(await request(app).get("/"))).toEqual(openAt("11"));
  });

  it("S-3: an inner closed failure leaves no invented numbers of the outer limiter's", async () => {
    const outer = timed(slidingWindow({ limit: 7, window: "1m" }));
    const inner = rateLimit({
      policy: slidingWindow({ name: "inner", limit: 3, window: "1m", onStoreFailure: "closed" }),
      store: new FailingStore(),
      onStoreError: () => {},
    });
    const app = framework().use(outer.limit, inner);
    expect(seen(await request(app).get("/"))).toEqual(closedAt("3"));
  });

  test.each([403, 503, 400, 599])(
    "S-4: the status may be %d, with headers and body as for 429",
    async (status) => {
      const { limit } = timed(fixedWindow({ limit: 1, window: "1m" }), { status });
      const app = framework().use(limit);
      app.get("/", (_request, response) => void response.end());
      await request(app).get("/");
      const response = await request(app).get("/");
      expect(response.status).toBe(status);
      expect(response.headers["retry-after"]).toBe("40");
      expect(response.headers["cache-control"]).toBe("no-store");
      expect(response.body).toEqual({
        error: { code: "RATE_LIMITED", message: "Too many requests. Retry after 40 seconds." },
      });
    },
  );

  test.each([200, 399, 600, 429.5, "429", Number.NaN])(
    "S-4: a status of %j is an error",
    (status) => {
      const policy = fixedWindow({ limit: 1, window: "1m" });
      expect(() => rateLimit({ policy, status: status as number })).toThrow(
        /^status: must be an integer from 400 to 599/,
      );
    },
  );

  it("S-5: what can never fit is refused without Retry-After and without a promise", async () => {
    const reasons: Reason[] = [];
    const { limit } = timed(fixedWindow({ limit: 5, window: "1m" }), {
      cost: () => 6,
      onDecision: ({ reason }) => reasons.push(reason),
    });
    const response = await request(framework().use(limit)).get("/");
    expect(seen(response)).toMatchObject({
      status: 429,
      retryAfter: undefined,
      limit: "5",
      remaining: "5",
    });
    expect(response.text).toBe(
      '{"error":{"code":"RATE_LIMITED","message":"Too many requests. This request can never fit the limit."}}',
    );
    expect(reasons).toEqual(["never"]);
  });

  it("S-5: a constant cost above a constant capacity throws at construction", () => {
    const policy = fixedWindow({ limit: 5, window: "1m" });
    expect(() => rateLimit({ policy, cost: 6 })).toThrow(
      'policy "default": cost must be an integer from 0 to its capacity 5, got 6',
    );
    expect(() => rateLimit({ policy, cost: { default: 6 } as never })).toThrow(/capacity 5, got 6/);
    expect(() => rateLimit({ policy, cost: 5 })).not.toThrow();
  });

  it("S-6: a refusal for abuse, by a policy of its own, is 429 as well", async () => {
    const limiter = createLimiter({
      clock: new ManualClock(startMs),
      policies: { abuse: fixedWindow({ limit: 2, window: "1h" }) },
    });
    const app = framework().use(rateLimits({ limiter })("abuse"));
    app.use((_request, response) => void response.status(401).end());
    const statuses: number[] = [];
    for (let call = 0; call < 3; call += 1) statuses.push((await request(app).get("/")).status);
    expect(statuses).toEqual([401, 401, 429]);
  });
});
