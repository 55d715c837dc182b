import {
  createLimiter,
  fixedWindow,
  type Limiter,
  type PolicyDefinition,
  type Store,
} from "@headgate/core";
import { bans } from "@headgate/core/policies";
import { ManualClock } from "@headgate/core/testing";
import type { Request } from "express";
import request from "supertest";
import { describe, expect, it } from "vitest";
import type { MountOptions, rateLimits as RateLimits } from "../src/index.js";
import { type Framework, listen, startMs } from "./servers.js";

/** What the suite runs on. */
export interface EndingsSetUp {
  readonly framework: Framework;
  readonly rateLimits: typeof RateLimits;
  /** A store of a test's own. */
  readonly storeOf: (clock: ManualClock) => Store;
}

const client = { ip: "127.0.0.1" };
/** No test here is about a slow store. */
const patientMs = 10_000;

/** An application with a login whose work ends when the test says so, and how often it ran. */
function loginApp(
  { framework, rateLimits, storeOf }: EndingsSetUp,
  policy: PolicyDefinition,
  options: MountOptions<"login"> = {},
) {
  const clock = new ManualClock(startMs);
  const limiter: Limiter<"login"> = createLimiter({
    store: storeOf(clock),
    deadlineMs: patientMs,
    policies: { login: policy },
  });
  const limit = rateLimits({ limiter, wallClock: () => clock.now() });
  const waiting: (() => void)[] = [];
  let checked = 0;
  let held = false;
  const app = framework();
  app.post("/login", limit("login", options), async (req: Request, response) => {
    checked += 1;
    if (held) await new Promise<void>((goOn) => waiting.push(goOn));
    response.status(req.query.password === "right" ? 200 : 401).end();
  });
  const left = async () => (await limiter.peek("login", client)).remaining;
  return {
    app,
    clock,
    limiter,
    login: (password: string) => request(app).post(`/login?password=${password}`),
    get checked() {
      return checked;
    },
    left,
    /** Waits for what a request leaves once it has ended, which a client does not wait for. */
    leaves: (count: number) => expect.poll(left).toBe(count),
    hold: () => {
      held = true;
    },
    /** Lets the held attempts go on, once so many have begun. */
    release: async (count: number) => {
      await expect.poll(() => waiting.length).toBe(count);
      held = false;
      for (const goOn of waiting.splice(0)) goOn();
    },
  };
}

const failures = {
  limit: 5,
  window: "15m",
  anchor: "first-request",
  count: "failures",
} as const;

const statusesOf = (answers: readonly { readonly status: number }[]) =>
  answers.map(({ status }) => status).sort();

/** How requests that end one way or another are counted, on any store, over HTTP. */
export function describeEndings(setUp: EndingsSetUp): void {
  describe("counting failures alone", () => {
    it("12 parallel good logins at limit 5 lock nobody out afterwards", async () => {
      const app = loginApp(setUp, fixedWindow(failures));
      app.hold();
      const attempts = Promise.all(Array.from({ length: 12 }, () => app.login("right")));
      await app.release(5);
      const answers = await attempts;
      expect(statusesOf(answers)).toEqual([...Array(5).fill(200), ...Array(7).fill(429)]);
      // What the refused ones were told is an upper bound: the end of the window, had all five failed.
      for (const { status, headers } of answers)
        if (status === 429) expect(headers["retry-after"]).toBe("900");
      await expect.poll(async () => (await app.login("right")).status).toBe(200);
    });

    it("50 parallel wrong logins at 5 failures check the password 5 times", async () => {
      const app = loginApp(setUp, fixedWindow(failures));
      const answers = await Promise.all(Array.from({ length: 50 }, () => app.login("wrong")));
      expect(statusesOf(answers)).toEqual([...Array(5).fill(401), ...Array(45).fill(429)]);
      expect(app.checked).toBe(5);
      const { status, headers } = await app.login("right");
      expect([status, headers["retry-after"]]).toEqual([429, "900"]);
    });

    it("a success gives back its own charge and no failure before it", async () => {
      const app = loginApp(setUp, fixedWindow(failures));
      for (let attempt = 0; attempt < 3; attempt += 1) await app.login("wrong");
      await app.login("right");
      await app.leaves(2);
      const { headers } = await app.login("wrong");
      expect(headers["x-ratelimit-remaining"]).toBe("1");
    });

    it("a success that clears leaves nothing counted", async () => {
      const app = loginApp(setUp, fixedWindow({ ...failures, onSuccess: "clear" }));
      for (let attempt = 0; attempt < 4; attempt += 1) await app.login("wrong");
      await app.login("right");
      await app.leaves(5);
      const { headers } = await app.login("wrong");
      expect(headers["x-ratelimit-remaining"]).toBe("4");
    });

    it("the application says what a success is", async () => {
      const app = loginApp(setUp, fixedWindow(failures), {
        succeeded: (_request, response) => response.statusCode === 401,
      });
      await app.login("wrong");
      await app.leaves(5);
      const { headers } = await app.login("right");
      expect(headers["x-ratelimit-remaining"]).toBe("4");
      expect((await app.login("wrong")).headers["x-ratelimit-remaining"]).toBe("3");
    });

    it.each<[title: string, succeeded: () => unknown]>([
      [
        "an error",
        () => {
          throw new Error("no idea");
        },
      ],
      ["a promise", async () => true],
      ["a promise that is broken", () => Promise.reject(new Error("no idea"))],
      ["a status", () => 200],
    ])("what the application cannot tell stays counted: %s", async (_, succeeded) => {
      const app = loginApp(setUp, fixedWindow(failures), { succeeded: succeeded as () => boolean });
      await app.login("right");
      expect((await app.login("right")).headers["x-ratelimit-remaining"]).toBe("3");
    });

    it("a client that hangs up is counted", async () => {
      const app = loginApp(setUp, fixedWindow(failures));
      app.hold();
      const { port } = await listen(app.app);
      const leaving = new AbortController();
      const gone = fetch(`http://127.0.0.1:${port}/login?password=right`, {
        method: "POST",
        signal: leaving.signal,
      }).catch(() => "gone");
      await expect.poll(() => app.checked).toBe(1);
      leaving.abort();
      expect(await gone).toBe("gone");
      await app.release(1);
      expect(await app.left()).toBe(4);
    });
  });

  it("not counting failures: only what succeeds stays counted", async () => {
    const app = loginApp(setUp, fixedWindow({ ...failures, count: "successes" }));
    await app.login("wrong");
    await app.leaves(5);
    await app.login("right");
    expect((await app.login("wrong")).headers["x-ratelimit-remaining"]).toBe("3");
  });

  it("a ban after k failures, told with its own wait, to its millisecond", async () => {
    const penalty = { on: "failures", after: 3, within: "10m", ban: "1h" } as const;
    const app = loginApp(setUp, fixedWindow({ limit: 100, window: "1m", penalty }));
    for (let attempt = 0; attempt < 3; attempt += 1)
      expect((await app.login("wrong")).status).toBe(401);
    await expect
      .poll(async () => bans(app.limiter))
      .toEqual([{ policyName: "login", subject: "ip=127.0.0.1", endsInMs: 3_600_000 }]);
    const refused = await app.login("right");
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "3600"]);
    app.clock.advance(3_599_999);
    expect((await app.login("right")).headers["retry-after"]).toBe("1");
    app.clock.advance(1);
    expect((await app.login("right")).status).toBe(200);
  });

  it("a ban after k refusals, which later refusals do not prolong", async () => {
    const penalty = { after: 3, within: "10m", ban: "1h" } as const;
    const policy = fixedWindow({ limit: 1, window: "1m", penalty });
    const app = loginApp(setUp, policy, { body: "problem" });
    await app.login("right");
    const told = [];
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const { headers, body } = await app.login("right");
      told.push([headers["retry-after"], body.title]);
      app.clock.advance(1_000);
    }
    // The window ends 40 s after the first request here.
    expect(told).toEqual([
      ["40", "Quota Exceeded"],
      ["39", "Quota Exceeded"],
      ["3600", "Abnormal Usage Detected"],
      ["3599", "Abnormal Usage Detected"],
      ["3598", "Abnormal Usage Detected"],
    ]);
  });

  it("a request that two mounts charge concludes each", async () => {
    const limiter: Limiter<"a" | "b"> = createLimiter({
      store: setUp.storeOf(new ManualClock(startMs)),
      deadlineMs: patientMs,
      policies: { a: fixedWindow(failures), b: fixedWindow(failures) },
    });
    const limit = setUp.rateLimits({ limiter });
    const app = setUp.framework().use(limit("a"));
    app.get("/", limit("b"), (_req, response) => void response.end());
    await request(app).get("/");
    const left = async (name: "a" | "b") => (await limiter.peek(name, client)).remaining;
    await expect.poll(async () => [await left("a"), await left("b")]).toEqual([5, 5]);
  });
}
