import fc from "fast-check";
import { describe, expect, it, test, vi } from "vitest";
import { type Identity, subjectOf } from "../../src/identity/subject.js";
import type { KeyBy } from "../../src/policy/policy.js";

const subject = (by: KeyBy, identity: unknown, secret?: string[]) =>
  subjectOf(by, identity as Identity, secret && new Set(secret));

describe("a subject", () => {
  it("is kind and value, as they are where they are plain", () => {
    expect(subject("user", { user: "42" })).toBe("user=42");
    expect(subject("ip", { ip: "2001:db8::1" })).toBe("ip=2001:db8::1");
    expect(subject("mail", { mail: "a.b-c_d@example.org" })).toBe("mail=a.b-c_d@example.org");
  });

  it("joins the parts of a composite in the key's order", () => {
    const identity = { account: "ann", ip: "192.0.2.1", other: "x" };
    expect(subject(["ip", "account"], identity)).toBe("ip=192.0.2.1&account=ann");
    expect(subject(["account", "ip"], identity)).toBe("account=ann&ip=192.0.2.1");
  });

  it("is the same for everybody under a global key, whoever asks", () => {
    expect(subject("global", {})).toBe("global=");
    expect(subject("global", { user: "42", global: "mine" })).toBe("global=");
    expect(subject("global", undefined)).toBe("global=");
  });

  it("is that of the first key whose parts are all known", () => {
    const by = { firstOf: [["user", "tenant"], "user", "ip", "global"] };
    expect(subject(by, { user: "1", tenant: "t", ip: "x" })).toBe("user=1&tenant=t");
    expect(subject(by, { user: "1", tenant: " ", ip: "x" })).toBe("user=1");
    expect(subject(by, { tenant: "t", ip: "x" })).toBe("ip=x");
    expect(subject(by, {})).toBe("global=");
    expect(subject({ firstOf: ["user", "ip"] }, { tenant: "t" })).toBeUndefined();
  });

  it("keeps a user id that looks like an address apart from that address", () => {
    const by = { firstOf: ["user", "ip"] };
    expect(subject(by, { user: "192.0.2.1" })).not.toBe(subject(by, { ip: "192.0.2.1" }));
  });

  it.each([
    undefined,
    null,
    "",
    " ",
    "\t\r\n",
    "\u00a0\u2003\ufeff",
    42,
    0,
    true,
    Number.NaN,
    {},
    [],
    ["42"],
    new String("42"),
    { toString: (): string => "42" },
    () => "42",
    Symbol("42"),
  ])("is none for the value %s", (user) => {
    expect(subject("user", { user })).toBeUndefined();
    expect(subject(["ip", "user"], { ip: "x", user })).toBeUndefined();
    expect(subject("user", { user }, ["user"])).toBeUndefined();
  });

  it.each([undefined, null, {}, "user", 5, Object.create({ user: "42" })])(
    "is none for the identity %j",
    (identity) => {
      expect(subject("user", identity)).toBeUndefined();
    },
  );

  it.each(["constructor", "toString", "hasOwnProperty", "valueOf", "length"])(
    "never takes the inherited property %s for a part",
    (part) => {
      expect(subject(part, {})).toBeUndefined();
      expect(subject(part, { [part]: "42" })).toBe(`${part}=42`);
    },
  );

  it("does not trim or fold a value", () => {
    const values = ["Ann", "ann", " ann", "ann ", "ANN", "a\u0301", "\u00e1"];
    expect(new Set(values.map((user) => subject("user", { user }))).size).toBe(values.length);
  });

  it("takes invisible characters for an ordinary value", () => {
    expect(subject("user", { user: "\u200b" })).toBe("user=%E2%80%8B");
    expect(subject("user", { user: "\u0000" })).toBe("user=%00");
  });

  it("percent-encodes UTF-8, so that whole code points read as everywhere else", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 4 }), (user) => {
        fc.pre(user.trim() !== "");
        const encoded = subject("user", { user })?.slice("user=".length) as string;
        expect(decodeURIComponent(encoded)).toBe(user);
      }),
    );
  });
});

describe("two identities never share a subject", () => {
  // Characters that mean something to a subject, a Redis key, a log or UTF-16, and the rest of them.
  const nasty = fc.constantFrom(
    ..."&=%#{}*:@._- \n\r\0ab1é€😀\u200b",
    "\ud800",
    "\udc00",
    "%26",
    "user=",
  );
  const value = fc.oneof(
    fc.array(nasty, { minLength: 1, maxLength: 6 }).map((characters) => characters.join("")),
    fc.string({ minLength: 1, maxLength: 8 }),
    fc.string({ unit: "binary", minLength: 1, maxLength: 80 }),
    fc.constantFrom("a", "b").map((character) => character.repeat(100)),
  );
  const secrets = fc.constantFrom<string[] | undefined>(undefined, ["a"], ["a", "b", "c"]);
  const runs = { numRuns: 3_000 };

  const distinct = (by: KeyBy, parts: readonly string[]) =>
    fc.property(
      fc.record(Object.fromEntries(parts.map((part) => [part, value]))),
      fc.record(Object.fromEntries(parts.map((part) => [part, value]))),
      secrets,
      (one, other, secret) => {
        const [first, second] = [subject(by, one, secret), subject(by, other, secret)];
        fc.pre(first !== undefined && second !== undefined);
        const same = parts.every((part) => one[part] === other[part]);
        expect(first === second).toBe(same);
      },
    );

  test("with one part", () => fc.assert(distinct("a", ["a"]), runs));
  test("with two parts", () => fc.assert(distinct(["a", "b"], ["a", "b"]), runs));
  test("with three parts", () => fc.assert(distinct(["a", "b", "c"], ["a", "b", "c"]), runs));

  test("whatever parts of a choice are known", () => {
    const by: KeyBy = { firstOf: [["a", "b"], "a", "b", ["c", "a"], "c"] };
    const identity = fc.record({ a: value, b: value, c: value }, { requiredKeys: [] });
    const used = ({ a, b, c }: Identity) =>
      JSON.stringify(a && b ? { a, b } : a ? { a } : b ? { b } : { c });
    fc.assert(
      fc.property(identity, identity, (one, other) => {
        const known = (who: Identity) => Object.values(who).every((part) => part?.trim() !== "");
        fc.pre(known(one) && known(other));
        const [first, second] = [subject(by, one), subject(by, other)];
        if (first !== undefined || second !== undefined)
          expect(first === second).toBe(used(one) === used(other));
      }),
      runs,
    );
  });

  test.each([
    [
      { a: "a", b: "b:c" },
      { a: "a:b", b: "c" },
    ],
    [
      { a: "1&b=2", b: "3" },
      { a: "1", b: "2&b=3" },
    ],
    [
      { a: "1", b: "2%26" },
      { a: "1", b: "2&" },
    ],
    [
      { a: "\ud800", b: "x" },
      { a: "\udbff", b: "x" },
    ],
    [
      { a: "\ud800", b: "x" },
      { a: "\ufffd", b: "x" },
    ],
    [
      { a: "x\n", b: "x" },
      { a: "x", b: "x" },
    ],
    [
      { a: `#${"0".repeat(32)}`, b: "x" },
      { a: "%230", b: "x" },
    ],
  ])("not %j and %j", (one, other) => {
    expect(subject(["a", "b"], one)).not.toBe(subject(["a", "b"], other));
  });

  test("not a value and the hash of another that is written out", () => {
    const hashed = subject("a", { a: "b".repeat(65) }) as string;
    expect(hashed).toMatch(/^a=#[0-9a-f]{32}$/);
    expect(subject("a", { a: hashed.slice(2) })).not.toBe(hashed);
  });
});

describe("what stands in a subject", () => {
  const anything = fc.string({ unit: "binary", minLength: 1, maxLength: 300 });

  it("is safe for a key: no brace, space, control character, nor anything beyond ASCII", () => {
    fc.assert(
      fc.property(anything, (user) => {
        fc.pre(user.trim() !== "");
        expect(subject("user", { user })).toMatch(/^user=(#[0-9a-f]{32}|[A-Za-z0-9._:@%-]{1,64})$/);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([64, 65])("is at most 64 characters of a value of %d", (length) => {
    const user = "a".repeat(length);
    const value = subject("user", { user })?.slice("user=".length);
    expect(value === user).toBe(length === 64);
    expect(value?.length).toBeLessThanOrEqual(64);
  });

  it("is as short for a value of 10 KB, and tells it from one that ends differently", () => {
    const long = "é".repeat(5_120);
    const one = subject("user", { user: `${long}a` });
    expect(one).toHaveLength("user=#".length + 32);
    expect(subject("user", { user: `${long}b` })).not.toBe(one);
  });

  it("costs a long value no more when all its characters need encoding", () => {
    const encode = vi.spyOn(TextEncoder.prototype, "encode");
    expect(subject("user", { user: "%".repeat(100_000) })).toMatch(/^user=#[0-9a-f]{32}$/);
    expect(encode).toHaveBeenCalledOnce();
    encode.mockRestore();
  });

  it("is never the value of a secret part, however short", () => {
    const key = "k-1234";
    const hidden = subject(["apiKey", "ip"], { apiKey: key, ip: "192.0.2.1" }, ["apiKey"]);
    expect(hidden).toMatch(/^apiKey=#[0-9a-f]{32}&ip=192\.0\.2\.1$/);
    expect(hidden).not.toContain(key);
    expect(subject("apiKey", { apiKey: key }, ["apiKey"])).toBe(hidden?.split("&")[0]);
    fc.assert(
      fc.property(anything, (apiKey) => {
        fc.pre(apiKey.trim() !== "");
        expect(subject("apiKey", { apiKey }, ["apiKey"])).toMatch(/^apiKey=#[0-9a-f]{32}$/);
      }),
    );
  });
});
