import { get, type IncomingMessage, type RequestListener } from "node:http";
import { createLimiter, fixedWindow, type KeyBy } from "@headgate/core";
import { ManualClock } from "@headgate/core/testing";
import type { Request, Response } from "express";
import fc from "fast-check";
import request from "supertest";
import { describe, expect, it, test } from "vitest";
import { decisionOf, rateLimit, rateLimits } from "../src/index.js";
import {
  type Framework,
  frameworks,
  listen,
  type TimedOptions,
  timed,
  warningsDuring,
} from "./servers.js";

const minute = fixedWindow({ limit: 3, window: "1m" });

/** An application behind one proxy, which tells the subject that it charged, or the status of a refusal. */
function appOf(framework: Framework, options: TimedOptions = {}, by: KeyBy = "ip") {
  const { limit } = timed({ ...minute, by }, options);
  const app = framework().set("trust proxy", 1).use(limit);
  app.get(
    "/",
    (req, response) => void response.json(decisionOf(req)?.outcomes[0]?.receipt?.subject ?? null),
  );
  return async (
    forwarded = "203.0.113.9",
    headers: Record<string, string> = {},
  ): Promise<unknown> => {
    const response = await request(app).get("/").set("X-Forwarded-For", forwarded).set(headers);
    return response.status === 200 ? response.body : response.status;
  };
}

/** Three calls from different places are one client when the fourth is refused. */
async function expectOneClient(
  from: (forwarded: string) => Promise<unknown>,
  spellings: readonly string[],
) {
  const answers: unknown[] = [];
  for (const spelling of spellings) answers.push(await from(spelling));
  expect(new Set(answers.slice(0, 3)).size).toBe(1);
  expect(answers.slice(3)).toEqual(answers.slice(3).map(() => 429));
}

describe.each(frameworks)("%s", (_, framework) => {
  describe("one client stays one", () => {
    it("whatever it forges on the left of X-Forwarded-For", async () => {
      await expectOneClient(appOf(framework), [
        "1.1.1.1, 203.0.113.9",
        "junk, 203.0.113.9",
        "203.0.113.9",
        ", 203.0.113.9",
      ]);
    });

    it("whatever its port", async () => {
      await expectOneClient(appOf(framework), [
        "203.0.113.9:1",
        "203.0.113.9:65535",
        "203.0.113.9",
        "203.0.113.9:2",
      ]);
      await expectOneClient(appOf(framework), [
        "[2001:db8::1]:1",
        "[2001:db8::1]:2",
        "2001:db8::1",
        "[2001:db8::1]",
      ]);
    });

    it("whatever junk it sends: junk is as good as no address, and shares one bucket", async () => {
      await expectOneClient(appOf(framework), [
        "unknown",
        "_x1",
        "<script>",
        "a".repeat(5_000),
        "0x7f.0.0.1",
        "1.2.3",
      ]);
    });

    it("while it rotates inside its /56, and a neighbour is another", async () => {
      const from = appOf(framework);
      await expectOneClient(from, [
        "2001:db8:1:200::1",
        "2001:db8:1:2ff:ffff::2",
        "2001:db8:1:234:5:6:7:8",
        "2001:db8:1:201::",
      ]);
      expect(await from("2001:db8:1:300::1")).toBe("ip=2001:db8:1:300::");
    });

    it("in every spelling of an IPv4 address in IPv6, and IPv4 is not one bucket", async () => {
      const from = appOf(framework);
      await expectOneClient(from, [
        "203.0.113.9",
        "::ffff:203.0.113.9",
        "::FFFF:cb00:7109",
        "[::ffff:203.0.113.9]:80",
      ]);
      expect(await from("::ffff:203.0.113.10")).toBe("ip=203.0.113.10");
    });

    it("in every spelling of an IPv6 address", async () => {
      await expectOneClient(appOf(framework, { ipv6Prefix: 128 }), [
        "2001:DB8::1",
        "2001:db8:0:0:0:0:0:1",
        "2001:0db8::0001",
        "[2001:db8::1%eth0]:9",
      ]);
    });

    it("octal and hexadecimal spellings are nobody's address", async () => {
      const from = appOf(framework);
      for (const junk of ["0313.0.113.9", "0xcb.0.113.9", "3405803785", "::ffff:0xcb.0.113.9"]) {
        const answer = await from(junk);
        expect(["shared=", 429]).toContain(answer);
      }
      expect(await from("203.0.113.9")).toBe("ip=203.0.113.9");
    });

    it("with a header of the largest size that Node takes", async () => {
      const from = appOf(framework);
      const forged = "6.6.6.6, ".repeat(1_500);
      await expectOneClient(
        from,
        Array.from({ length: 4 }, (_, index) => `${index}.1.1.1, ${forged}203.0.113.9`),
      );
    });
  });

  it("no two clients share a bucket, whoever they are", async () => {
    const from = appOf(framework, { key: (req) => req.get("x-key") });
    const text = fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
      minLength: 1,
      maxLength: 80,
    });
    const seen = new Map<unknown, string>();
    await fc.assert(
      fc.asyncProperty(text, async (key) => {
        const subject = await from(undefined, { "x-key": key });
        if (subject === 429) return;
        expect(seen.get(subject) ?? key).toBe(key);
        seen.set(subject, key);
      }),
    );
  });

  test.each([
    ["undefined", undefined],
    ["null", null],
    ["an empty text", ""],
    ["blanks", " \t\n"],
    ["true", true],
    ["an object", { id: 1 }],
    ["an array", ["ada"]],
    ["a number", 42],
    ["NaN", Number.NaN],
    ["a symbol", Symbol("ada")],
    ["a function", () => "ada"],
    ["a bigint", 1n],
  ])(
    "a key function that gives %s counts by address: no key for all the world, none for each request",
    async (_name, key) => {
      const from = appOf(framework, { key: () => key as string });
      await warningsDuring(async () => {
        expect(await from("203.0.113.9")).toBe("ip=203.0.113.9");
        expect(await from("203.0.113.9")).toBe("ip=203.0.113.9");
        expect(await from("203.0.113.9")).toBe("ip=203.0.113.9");
        expect(await from("203.0.113.9")).toBe(429);
        expect(await from("203.0.113.10")).toBe("ip=203.0.113.10");
      });
    },
  );

  it("a part that is not text is told of once, with its kind", async () => {
    const from = appOf(framework, { key: () => 42 as unknown as string });
    const warnings = await warningsDuring(async () => {
      await from();
      await from();
    });
    expect(warnings.filter((text) => text.startsWith("HEADGATE_IDENTITY"))).toEqual([
      "HEADGATE_IDENTITY: identify: key must be text, got 42, which counts as missing; use String(...)",
    ]);
  });

  it.each([undefined, null, "ada", 7, true, []])(
    "identify may give %j: no part is known then",
    async (identity) => {
      const from = appOf(framework, { identify: () => identity as undefined }, "user");
      await warningsDuring(async () => {
        expect(await from()).toBe("ip=203.0.113.9");
      });
    },
  );

  test.each([
    ["ip", "ip=203.0.113.9"],
    ["shared", "shared="],
    ["allow", null],
    ["deny", 403],
  ] as const)("a request without its key under onMissingKey %s", async (onMissingKey, expected) => {
    const from = appOf(framework, { onMissingKey }, "user");
    await warningsDuring(async () => {
      expect(await from()).toBe(expected);
    });
  });

  it("one policy that allows a missing key leaves the other ones in force", async () => {
    const limiter = createLimiter({
      clock: new ManualClock(1),
      policies: { perUser: { ...minute, by: "user" }, perIp: minute },
    });
    const app = framework().use(rateLimits({ limiter, onMissingKey: "allow" })("perUser", "perIp"));
    app.get(
      "/",
      (req, response) =>
        void response.json(decisionOf(req)?.outcomes.map(({ policy }) => policy.name)),
    );
    await warningsDuring(async () => {
      expect((await request(app).get("/")).body).toEqual(["perIp"]);
    });
  });

  it("the first known part is taken, and kinds never mix: a user that looks like an address is a user", async () => {
    const from = appOf(
      framework,
      { identify: (req) => ({ user: req.get("x-user") }) },
      { firstOf: ["user", "ip"] },
    );
    expect(await from("203.0.113.9", { "x-user": "203.0.113.9" })).toBe("user=203.0.113.9");
    expect(await from("203.0.113.9")).toBe("ip=203.0.113.9");
    expect(await from("203.0.113.9", { "x-user": "ip=203.0.113.9" })).toBe("user=ip%3D203.0.113.9");
  });

  it("a policy that says whom it counts keeps to it beside a key", async () => {
    const key = () => "ada";
    expect(await appOf(framework, { key }, ["ip", "key"])()).toBe("ip=203.0.113.9&key=ada");
    expect(await appOf(framework, { key }, "global")()).toBe("global=");
    expect(await appOf(framework, { key })()).toBe("key=ada");
  });

  it("identify cannot replace the address", async () => {
    const from = appOf(framework, { identify: () => ({ ip: "6.6.6.6", user: "ada" }) }, [
      "ip",
      "user",
    ]);
    expect(await from()).toBe("ip=203.0.113.9&user=ada");
  });

  it("secret parts and long ones are not readable in the subject", async () => {
    const from = appOf(framework, { key: (req) => req.get("x-key"), secretParts: ["key"] });
    expect(await from(undefined, { "x-key": "token-of-ada" })).toMatch(/^key=#[0-9a-f]{32}$/);
    const long = appOf(framework, { key: () => "a".repeat(10_000) });
    expect(await long()).toMatch(/^key=#[0-9a-f]{32}$/);
  });

  describe("the allow list", () => {
    test.each([
      ["203.0.113.0/24", "203.0.113.9", null],
      ["203.0.113.0/24", "::ffff:203.0.113.9", null],
      ["::ffff:203.0.113.9", "203.0.113.9", null],
      ["203.0.113.0/24", "203.0.114.9", "ip=203.0.114.9"],
      ["2001:db8::/32", "2001:db8:ffff::1", null],
      ["2001:db8::/32", "2001:db9::1", "ip=2001:db9::"],
      ["0.0.0.0/0", "junk", "shared="],
    ])("of %s and %s", async (range, forwarded, expected) => {
      expect(await appOf(framework, { allow: { ip: [range] } })(forwarded)).toBe(expected);
    });

    it("by key and by any other part", async () => {
      const options = { identify: () => ({ user: "ada", plan: "staff" }) };
      expect(await appOf(framework, { ...options, allow: { plan: ["staff"] } })()).toBeNull();
      expect(await appOf(framework, { ...options, allow: { plan: ["guest"] } })()).toBe(
        "ip=203.0.113.9",
      );
      const byKey = appOf(framework, {
        key: (req) => req.get("x-key"),
        allow: { key: ["monitor"] },
      });
      expect(await byKey(undefined, { "x-key": "monitor" })).toBeNull();
      expect(await byKey(undefined, { "x-key": "Monitor" })).toBe("key=Monitor");
    });

    it("is no list of names on Object.prototype", async () => {
      const from = appOf(framework, {
        identify: () => ({}),
        allow: { constructor: ["x"], toString: ["y"] },
      });
      expect(await from()).toBe("ip=203.0.113.9");
    });

    test.each([
      [{ ip: "203.0.113.9" }],
      [{ ip: ["nonsense"] }],
      [{ ip: ["10.0.0.0/40"] }],
      [{ key: "ada" }],
      [{ key: [42] }],
      [["203.0.113.9"]],
      ["203.0.113.9"],
      [null],
    ])("given as %j is an error at construction", (allow) => {
      expect(() => rateLimit({ policy: minute, allow: allow as never })).toThrow(
        expect.objectContaining({
          code: "INVALID_OPTION",
          message: expect.stringMatching(/^allow/),
        }),
      );
    });
  });

  it.each([31, 129, 56.5, "56", Number.NaN, 0])(
    "an ipv6Prefix of %j is an error at construction",
    (ipv6Prefix) => {
      expect(() => rateLimit({ policy: minute, ipv6Prefix: ipv6Prefix as number })).toThrow(
        /^ipv6Prefix: must be an integer from 32 to 128/,
      );
    },
  );

  it("a shorter prefix makes one client of a larger network", async () => {
    await expectOneClient(appOf(framework, { ipv6Prefix: 48 }), [
      "2001:db8:1:1::",
      "2001:db8:1:ff00::",
      "2001:db8:1:234::1",
      "2001:db8:1::9",
    ]);
  });

  it.each(["on the route", "on the path", "on a parameter"])(
    "no spelling of the path reaches the handler with a budget of its own, mounted %s",
    async (where) => {
      const { limit } = timed({ ...minute, limit: 100 });
      const handled: string[] = [];
      const handle = (req: Request, response: Response): void => {
        handled.push(req.originalUrl);
        response.end();
      };
      const app = framework();
      if (where === "on the route") app.get("/login", limit, handle);
      else if (where === "on a parameter") app.get("/:page", limit, handle);
      else {
        app.use("/login", limit);
        app.get("/login", handle);
      }
      const paths = [
        "/login",
        "/login/",
        "/LOGIN",
        "//login",
        "/%6Cogin",
        "/login?x=1",
        "/./login",
      ];
      for (const path of paths) {
        const { status, headers } = await rawGet(app, path);
        const left = handled.includes(path) ? String(100 - handled.length) : undefined;
        expect([path, status, headers["x-ratelimit-remaining"]]).toEqual([
          path,
          handled.includes(path) ? 200 : 404,
          left,
        ]);
      }
      expect(handled).toEqual(
        expect.arrayContaining(["/login", "/login/", "/LOGIN", "/login?x=1"]),
      );
    },
  );
});

/** A GET whose path goes out as it is, not made canonical by the client. */
async function rawGet(
  app: RequestListener,
  path: string,
): Promise<IncomingMessage & { readonly status: number }> {
  const { port } = await listen(app);
  return new Promise((resolve, reject) => {
    get({ port, host: "127.0.0.1", path }, (incoming) => {
      incoming.resume();
      resolve(Object.assign(incoming, { status: incoming.statusCode as number }));
    }).on("error", reject);
  });
}
