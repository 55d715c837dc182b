import { describe, expect, it } from "vitest";
import { type AddressSource, addressFrom } from "../../src/http/forwarded.js";

interface Arrival {
  readonly socket?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const reader = {
  header: ({ headers }: Arrival, name: string) => headers?.[name],
  socketAddress: ({ socket }: Arrival) => socket,
};

function arrival(forwarded: string, socket = "10.0.0.1"): Arrival {
  return { socket, headers: { "x-forwarded-for": forwarded } };
}

function addressOf(source: AddressSource<Arrival>, request: Arrival): string | undefined {
  return addressFrom(source, reader)(request);
}

describe("behind a number of proxies", () => {
  it.each([
    [0, "203.0.113.9", "10.0.0.1"],
    [1, "203.0.113.9", "203.0.113.9"],
    [1, "6.6.6.6, 203.0.113.9", "203.0.113.9"],
    [2, "6.6.6.6, 203.0.113.9, 10.0.0.2", "203.0.113.9"],
    [3, "203.0.113.9, 10.0.0.2", "203.0.113.9"],
    [1, "6.6.6.6,203.0.113.9", "203.0.113.9"],
    [1, "6.6.6.6 , 203.0.113.9:4711", "203.0.113.9"],
    [1, "6.6.6.6, [2001:db8::1]:443", "2001:db8::1"],
    [1, ",203.0.113.9", "203.0.113.9"],
  ])("%d, %j came from %s", (trustedProxies, forwarded, address) => {
    expect(addressOf({ trustedProxies }, arrival(forwarded))).toBe(address);
  });

  it.each(["203.0.113.9, unknown", "203.0.113.9, ", "203.0.113.9,", "203.0.113.9, 0x7f.1"])(
    "an entry that is no address is as good as none, and its neighbour is not taken: %j",
    (forwarded) => {
      expect(addressOf({ trustedProxies: 1 }, arrival(forwarded))).toBeUndefined();
    },
  );

  it("a request without the header came from the socket", () => {
    expect(addressOf({ trustedProxies: 2 }, { socket: "::ffff:192.0.2.1" })).toBe("192.0.2.1");
    expect(addressOf({ trustedProxies: 2 }, arrival(""))).toBe("10.0.0.1");
  });

  it("a request of which nothing is known has no address", () => {
    expect(addressOf({ trustedProxies: 1 }, {})).toBeUndefined();
  });

  it("a header of ten thousand entries is read from the right, and only as far as needed", () => {
    const forged = Array.from({ length: 10_000 }, (_, index) => `6.6.${index >> 8}.${index & 255}`);
    const request = arrival(`${forged.join(",")},203.0.113.9`);
    expect(addressOf({ trustedProxies: 1 }, request)).toBe("203.0.113.9");
    expect(addressOf({ trustedProxies: 64 }, request)).toBe("6.6.38.209");
    const commas = arrival(",".repeat(1_000_000));
    expect(addressOf({ trustedProxies: ["10.0.0.0/8"] }, commas)).toBeUndefined();
  });
});

describe("behind proxies of known ranges", () => {
  const source = { trustedProxies: ["10.0.0.0/8", "2001:db8::/32"] };

  it.each([
    ["203.0.113.9", "203.0.113.9"],
    ["6.6.6.6, 203.0.113.9, 10.1.1.1", "203.0.113.9"],
    ["6.6.6.6, 203.0.113.9, ::ffff:10.1.1.1", "203.0.113.9"],
    ["6.6.6.6, 203.0.113.9, 10.1.1.1:99, 2001:db8::5", "203.0.113.9"],
    ["10.2.2.2, 10.1.1.1", "10.2.2.2"],
  ])("%j came from %s", (forwarded, address) => {
    expect(addressOf(source, arrival(forwarded))).toBe(address);
  });

  it("a socket outside the ranges is the client, whatever it forwards", () => {
    expect(addressOf(source, arrival("203.0.113.9", "198.51.100.1"))).toBe("198.51.100.1");
  });

  it("junk behind a trusted proxy is no address, and what stands left of it is not believed", () => {
    expect(addressOf(source, arrival("203.0.113.9, junk, 10.1.1.1"))).toBeUndefined();
  });

  it("the nearest proxy is taken on trust where the socket is unknown", () => {
    const request = { headers: { "x-forwarded-for": "6.6.6.6, 203.0.113.9, 10.1.1.1" } };
    expect(addressOf(source, request)).toBe("203.0.113.9");
    expect(addressOf(source, {})).toBeUndefined();
  });
});

describe("a header of the platform's", () => {
  it("is read whatever the case of its name, and its value made canonical", () => {
    const request = { socket: "10.0.0.1", headers: { "x-real-ip": "::ffff:203.0.113.9" } };
    expect(addressOf({ header: "X-Real-IP" }, request)).toBe("203.0.113.9");
  });

  it("that is missing or sent twice gives no address, not the socket's", () => {
    expect(addressOf({ header: "x-real-ip" }, { socket: "10.0.0.1" })).toBeUndefined();
    const twice = { headers: { "x-real-ip": "203.0.113.9, 6.6.6.6" } };
    expect(addressOf({ header: "x-real-ip" }, twice)).toBeUndefined();
  });
});

describe("a function", () => {
  it("gives the address, made canonical; junk is as good as none", () => {
    expect(addressOf(() => "[2001:DB8::1]:1", {})).toBe("2001:db8::1");
    expect(addressOf(() => "junk", {})).toBeUndefined();
    expect(addressOf(() => undefined, { socket: "10.0.0.1" })).toBeUndefined();
    expect(addressOf(() => 42 as unknown as string, {})).toBeUndefined();
  });
});

describe("a source of none of these kinds", () => {
  it.each([
    [{}],
    [null],
    ["x-real-ip"],
    [1],
    [true],
    [{ header: "" }],
    [{ header: 1 }],
    [{ trustedProxies: -1 }],
    [{ trustedProxies: 1.5 }],
    [{ trustedProxies: 65 }],
    [{ trustedProxies: Number.NaN }],
    [{ trustedProxies: "1" }],
    [{ trustedProxies: true }],
    [{ trustedProxies: ["10.0.0.0/99"] }],
  ])("%j is an error at construction", (source) => {
    expect(() => addressFrom(source as AddressSource<Arrival>, reader)).toThrow(
      expect.objectContaining({
        code: "INVALID_OPTION",
        message: expect.stringMatching(/^ip(\.trustedProxies)?: must be /),
      }),
    );
  });
});
