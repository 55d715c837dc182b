import { connect } from "node:net";
import { createLimiter, fixedWindow } from "@headgate/core";
import type { NextFunction, Request, Response } from "express";
import request from "supertest";
import { describe, expect, it, test, vi } from "vitest";
import { rateLimit, rateLimits } from "../../src/index.js";
import { FailingStore } from "../failing-store.js";
import { frameworks, listen, type TimedOptions, timed, warningsDuring } from "../servers.js";

const minute = fixedWindow({ limit: 2, window: "1m" });

/** Counts how often a step goes on, and what it passes along. */
function counting(step: (request: Request, response: Response, next: NextFunction) => unknown) {
  const nexts: unknown[] = [];
  const counted = (req: Request, response: Response, next: NextFunction): void => {
    step(req, response, (error?: unknown) => {
      nexts.push(error);
      next(error);
    });
  };
  return { nexts, counted };
}

const problems: readonly (readonly [string, TimedOptions])[] = [
  ["identify throws", { identify: fail }],
  ["identify rejects", { identify: reject }],
  ["key throws", { key: fail }],
  ["key rejects", { key: reject }],
  ["cost throws", { cost: fail }],
  ["cost rejects", { cost: reject }],
  ["skip throws", { skip: fail }],
  ["skip rejects", { skip: reject }],
  ["skip of the policy throws", { skip: { default: fail } }],
  ["skip of the policy rejects", { skip: { default: reject } }],
  ["ip throws", { ip: fail }],
];

function fail(): never {
  throw new Error("the application's own");
}

function reject(): Promise<never> {
  return Promise.reject(new Error("the application's own"));
}

describe.each(frameworks)("%s", (_, framework) => {
  it("E-1: the middleware has three parameters", () => {
    expect(rateLimit({ policy: minute })).toHaveLength(3);
    const limiter = createLimiter({ policies: { minute } });
    expect(rateLimits({ limiter })("minute")).toHaveLength(3);
  });

  test.each(problems)(
    "E-2: when %s, next gets the error once, and nothing is counted",
    async (_name, options) => {
      const used = Object.fromEntries(
        Object.entries(options).filter(([, value]) => value !== undefined),
      );
      const by = "identify" in used ? "user" : "ip";
      let broken = true;
      const guarded = Object.fromEntries(
        Object.entries(used).map(([name, value]) => [name, mendable(value, () => broken, name)]),
      );
      const { limit } = timed({ ...minute, by }, guarded as TimedOptions);
      const { counted, nexts } = counting(limit);
      const app = framework().use(counted);
      app.get("/", (_request, response) => void response.end());
      app.use((error: Error, _req: Request, response: Response, _next: NextFunction) => {
        response.status(500).json(error.message);
      });
      for (let call = 0; call < 3; call += 1) {
        const response = await request(app).get("/");
        expect([response.status, response.body]).toEqual([500, "the application's own"]);
      }
      expect(nexts).toHaveLength(3);
      broken = false;
      const { status, headers } = await request(app).get("/");
      expect([status, headers["x-ratelimit-remaining"]]).toEqual([200, "1"]);
    },
  );

  it("E-2: a failing choice of policies goes to next once; so does one that chooses nothing", async () => {
    const choices: (() => unknown)[] = [
      fail,
      reject,
      () => undefined,
      () => "nope",
      () => [],
      () => true,
      () => 5,
      async () => null,
    ];
    for (const choose of choices) {
      const limit = rateLimit({ policies: { minute }, policy: choose as () => "minute" });
      const { counted, nexts } = counting(limit);
      const app = framework().use(counted);
      app.set("env", "test");
      app.get("/", (_request, response) => void response.end());
      expect((await request(app).get("/")).status).toBe(500);
      expect(nexts).toHaveLength(1);
      expect(nexts[0]).toBeInstanceOf(Error);
    }
  });

  it("E-2: a store that fails is never an error of the chain", async () => {
    const limit = rateLimit({ policy: minute, store: new FailingStore(), onStoreError: fail });
    const { counted, nexts } = counting(limit);
    const app = framework().use(counted);
    app.get("/", (_request, response) => void response.end());
    const warnings = await warningsDuring(async () => {
      expect((await request(app).get("/")).status).toBe(200);
    });
    expect(nexts).toEqual([undefined]);
    expect(warnings).toEqual(["HEADGATE_LISTENER: onStoreError threw: the application's own"]);
  });

  test.each([
    ["throws", fail],
    ["rejects", reject],
  ])("E-2: onDecision that %s changes nothing, and is told of once", async (_name, onDecision) => {
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    const { limit } = timed(minute, { onDecision: onDecision as () => void });
    const app = framework().use(limit);
    app.get("/", (_request, response) => void response.end());
    const statuses: number[] = [];
    const warnings = await warningsDuring(async () => {
      for (let call = 0; call < 3; call += 1) statuses.push((await request(app).get("/")).status);
    });
    process.off("unhandledRejection", unhandled);
    expect(statuses).toEqual([200, 200, 429]);
    expect(unhandled).not.toHaveBeenCalled();
    expect(warnings).toEqual(["HEADGATE_LISTENER: onDecision threw: the application's own"]);
  });

  test.each(["in this process", "elsewhere"])(
    "E-2: what a later handler throws is not taken for a failure of the limiter, with a store %s",
    async (where) => {
      const store = new FailingStore();
      store.state = "up";
      const limit = rateLimit({ policy: minute, ...(where === "elsewhere" && { store }) });
      const { counted, nexts } = counting(limit);
      const app = framework().use(counted);
      app.get("/", () => fail());
      const seen: string[] = [];
      app.use((error: Error, _req: Request, response: Response, _next: NextFunction) => {
        seen.push(error.message);
        response.status(500).end();
      });
      expect((await request(app).get("/")).status).toBe(500);
      expect(nexts).toEqual([undefined]);
      expect(seen).toEqual(["the application's own"]);
    },
  );

  it("E-2: a next that throws rejects no promise", async () => {
    const store = new FailingStore();
    store.state = "up";
    const limit = rateLimit({ policy: minute, store });
    const events = ["uncaughtException", "unhandledRejection"] as const;
    const others = events.map((event) => process.rawListeners(event));
    const seen = await new Promise<string>((resolve) => {
      for (const event of events) {
        process.removeAllListeners(event);
        process.once(event, () => resolve(event));
      }
      const response = { getHeader() {}, setHeader() {}, removeHeader() {} } as unknown as Response;
      limit({ headers: {}, method: "GET", socket: {} } as Request, response, fail);
    });
    for (const [index, event] of events.entries()) {
      process.removeAllListeners(event);
      for (const listener of others[index] ?? []) process.on(event, listener as () => void);
    }
    expect(seen).toBe("uncaughtException");
  });

  it("E-3: it returns nothing, so no promise or thenable reaches the router", () => {
    const limit = rateLimit({ policy: minute, store: new FailingStore(), onStoreError: () => {} });
    const response = { getHeader() {}, setHeader() {}, removeHeader() {} } as unknown as Response;
    const given: unknown = limit(
      { headers: {}, method: "GET", socket: {} } as Request,
      response,
      () => {},
    );
    expect(given).toBeUndefined();
  });

  it("E-3: thenables of the application's are taken for promises", async () => {
    // biome-ignore lint/suspicious/noThenProperty: what is tested is a thenable
    const two = { then: (resolve: (value: number) => void) => resolve(2) };
    const { limit } = timed(minute, { cost: () => two as PromiseLike<number> });
    const app = framework().use(limit);
    const { headers } = await request(app).get("/");
    expect(headers["x-ratelimit-remaining"]).toBe("0");
  });

  it("E-4: requests without an address share one bucket with one warning, and never key undefined", async () => {
    const subjects: unknown[] = [];
    const { limit } = timed(minute, {
      ip: () => undefined,
      onDecision: ({ outcomes }) => subjects.push(outcomes[0]?.receipt?.subject),
    });
    const app = framework().use(limit);
    app.get("/", (_request, response) => void response.end());
    const statuses: number[] = [];
    const warnings = await warningsDuring(async () => {
      for (let call = 0; call < 3; call += 1) statuses.push((await request(app).get("/")).status);
    });
    expect(statuses).toEqual([200, 200, 429]);
    expect(subjects).toEqual(["shared=", "shared=", undefined]);
    expect(warnings.map((text) => text.split(":")[0])).toEqual(["HEADGATE_SHARED_KEY"]);
  });

  it("E-5: the response is written by statusCode, setHeader and end alone", async () => {
    const { limit } = timed(minute, { cost: () => 3 });
    const app = framework();
    app.use((_request, response, next) => {
      for (const method of ["status", "set", "json", "send", "type"] as const)
        response[method] = fail as never;
      next();
    }, limit);
    expect((await request(app).get("/")).status).toBe(429);
  });

  it("E-6: when the head has been sent, nothing is set, and the request goes on or ends", async () => {
    const { limit } = timed(minute);
    const app = framework();
    app.use((_request, response, next) => {
      response.writeHead(200);
      response.write("begun ");
      next();
    }, limit);
    app.get("/", (_request, response) => void response.end("and ended"));
    const passed = await request(app).get("/").buffer(true).parse(text);
    expect(passed.body).toBe("begun and ended");
    expect(passed.headers["x-ratelimit-limit"]).toBeUndefined();
    await request(app).get("/").buffer(true).parse(text);
    const refused = await request(app).get("/").buffer(true).parse(text);
    expect([refused.status, refused.body]).toEqual([200, "begun "]);
  });

  it("E-6: when the response has ended, nothing is counted and next is not called", async () => {
    const { limit } = timed(minute);
    const { counted, nexts } = counting(limit);
    const app = framework();
    app.get(
      "/ended",
      (_request, response, next) => {
        response.end("done");
        next();
      },
      counted,
    );
    app.get("/", limit, (_request, response) => void response.end());
    expect((await request(app).get("/ended")).text).toBe("done");
    expect(nexts).toEqual([]);
    expect((await request(app).get("/")).headers["x-ratelimit-remaining"]).toBe("1");
  });

  it("E-6: when the client leaves while identity is looked up, next is never called", async () => {
    const arrived = promise<void>();
    const answer = promise<string>();
    const { limit } = timed(minute, {
      key: () => {
        arrived.resolve();
        return answer.promise;
      },
    });
    const { counted, nexts } = counting(limit);
    const left = promise<void>();
    const app = framework().use((_request, response, next) => {
      response.once("close", () => left.resolve());
      next();
    }, counted);
    const { port } = await listen(app);
    const socket = connect(port, "127.0.0.1");
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await arrived.promise;
    socket.destroy();
    await left.promise;
    answer.resolve("ada");
    await new Promise(setImmediate);
    expect(nexts).toEqual([]);
  });

  it("E-6: an error after the client has left goes nowhere", async () => {
    const arrived = promise<void>();
    const answer = promise<string>();
    const { limit } = timed(minute, {
      key: () => {
        arrived.resolve();
        return answer.promise;
      },
    });
    const { counted, nexts } = counting(limit);
    const left = promise<void>();
    const app = framework().use((_request, response, next) => {
      response.once("close", () => left.resolve());
      next();
    }, counted);
    const { port } = await listen(app);
    const socket = connect(port, "127.0.0.1");
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await arrived.promise;
    socket.destroy();
    await left.promise;
    answer.reject(new Error("too late"));
    await new Promise(setImmediate);
    expect(nexts).toEqual([]);
  });

  describe("E-7: the address is req.ip, which honours trust proxy", () => {
    function appBehind(trust: unknown, options: TimedOptions = {}) {
      const { limit } = timed(minute, options);
      const app = framework();
      if (trust !== undefined) app.set("trust proxy", trust);
      app.use(limit);
      app.get("/", (_request, response) => void response.end());
      return async (forwarded: string): Promise<string> => {
        const { status, headers } = await request(app).get("/").set("X-Forwarded-For", forwarded);
        return `${status} ${headers["x-ratelimit-remaining"]}`;
      };
    }

    it("unset: the socket's, whatever is forged, with one warning", async () => {
      const from = appBehind(undefined);
      const seen: string[] = [];
      const warnings = await warningsDuring(async () => {
        for (const forged of ["6.6.6.1", "6.6.6.2", "6.6.6.3"]) seen.push(await from(forged));
      });
      expect(seen).toEqual(["200 1", "200 0", "429 0"]);
      expect(warnings.map((text) => text.split(":")[0])).toEqual(["HEADGATE_UNTRUSTED_PROXY"]);
    });

    it("one proxy: the entry that it appended, not the ones left of it", async () => {
      const from = appBehind(1);
      const seen: string[] = [];
      const warnings = await warningsDuring(async () => {
        for (const forged of [
          "6.6.6.1, 203.0.113.9",
          "6.6.6.2, 203.0.113.9",
          "6.6.6.3, 203.0.113.9",
        ])
          seen.push(await from(forged));
        seen.push(await from("6.6.6.1, 203.0.113.10"));
      });
      expect(seen).toEqual(["200 1", "200 0", "429 0", "200 1"]);
      expect(warnings).toEqual([]);
    });

    it("true: the left-most entry, which every client can choose: one warning", async () => {
      const from = appBehind(true);
      const seen: string[] = [];
      const warnings = await warningsDuring(async () => {
        for (const forged of ["6.6.6.1, 203.0.113.9", "6.6.6.2, 203.0.113.9", "6.6.6.1"])
          seen.push(await from(forged));
      });
      expect(seen).toEqual(["200 1", "200 1", "200 0"]);
      expect(warnings.map((text) => text.split(":")[0])).toEqual(["HEADGATE_TRUST_PROXY"]);
    });

    it("the option ip replaces it, and needs no trust proxy", async () => {
      const from = appBehind(undefined, { ip: { trustedProxies: ["127.0.0.0/8"] } });
      const seen: string[] = [];
      const warnings = await warningsDuring(async () => {
        for (const forwarded of ["6.6.6.1, 203.0.113.9", "6.6.6.2, 203.0.113.9", "203.0.113.8"])
          seen.push(await from(forwarded));
      });
      expect(seen).toEqual(["200 1", "200 0", "200 1"]);
      expect(warnings).toEqual([]);
    });
  });

  it("E-8: where it is mounted makes no difference to whom it counts", async () => {
    const { limit } = timed(fixedWindow({ limit: 9, window: "1m" }));
    const end = (_request: Request, response: Response): void => void response.end();
    const router = framework.Router();
    router.get("/deep/:id", limit, end);
    const app = framework();
    app.get("/route", limit, end);
    app.use("/mounted", limit, end);
    app.use("/router", router);
    const left: unknown[] = [];
    for (const path of [
      "/route",
      "/mounted/a",
      "/mounted/b?c=1",
      "/router/deep/1",
      "/router/deep/2",
    ])
      left.push((await request(app).get(path)).headers["x-ratelimit-remaining"]);
    expect(left).toEqual(["8", "7", "6", "5", "4"]);
  });
});

/** The option while it is broken, and one that gives something right once it is not. */
function mendable(value: unknown, broken: () => boolean, name: string): unknown {
  const right: Readonly<Record<string, unknown>> = {
    identify: { user: "ada" },
    key: "ada",
    cost: 1,
    skip: false,
    ip: "203.0.113.9",
  };
  if (typeof value === "function") return () => (broken() ? value() : right[name]);
  return Object.fromEntries(
    Object.entries(value as object).map(([part, inner]) => [part, mendable(inner, broken, name)]),
  );
}

function promise<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: Error) => void;
  const made = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise: made, resolve, reject };
}

/** Collects a body whatever its type. */
function text(incoming: unknown, done: (error: Error | null, body: string) => void): void {
  const stream = incoming as NodeJS.ReadableStream;
  let body = "";
  stream.on("data", (chunk) => {
    body += String(chunk);
  });
  stream.on("end", () => done(null, body));
}
