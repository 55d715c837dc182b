import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addressMatcher, canonicalAddress, clientOfAddress } from "../../src/http/address.js";

describe("the canonical address", () => {
  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["0.0.0.0", "0.0.0.0"],
    ["255.255.255.255", "255.255.255.255"],
    [" 192.0.2.1 ", "192.0.2.1"],
    ["192.0.2.1:55", "192.0.2.1"],
    ["192.0.2.1:65535", "192.0.2.1"],
    ["[192.0.2.1]:55", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::FFFF:192.0.2.1", "192.0.2.1"],
    ["::ffff:c000:201", "192.0.2.1"],
    ["0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1"],
    ["[::ffff:192.0.2.1]:8080", "192.0.2.1"],
    ["2001:db8::1", "2001:db8::1"],
    ["2001:DB8::1", "2001:db8::1"],
    ["2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::1"],
    ["2001:db8:0:0::1", "2001:db8::1"],
    ["[2001:db8::1]", "2001:db8::1"],
    ["[2001:db8::1]:443", "2001:db8::1"],
    ["fe80::1%eth0", "fe80::1"],
    ["[fe80::1%eth0]:443", "fe80::1"],
    ["::1", "::1"],
    ["::", "::"],
  ])("of %j is %s", (text, canonical) => {
    expect(canonicalAddress(text)).toBe(canonical);
  });

  it.each([
    "",
    " ",
    "unknown",
    "_hidden",
    "localhost",
    "example.com",
    "1.2.3",
    "1.2.3.4.5",
    "256.1.1.1",
    "1.2.3.256",
    "01.2.3.4",
    "1.2.3.04",
    "0x7f.0.0.1",
    "0x7f000001",
    "2130706433",
    "017700000001",
    "127.1",
    "1.2.3.4/8",
    "1.2.3.4:",
    "1.2.3.4:123456",
    "1.2.3.4, 5.6.7.8",
    "::ffff:0x7f.0.0.1",
    "::ffff:0177.0.0.1",
    "::ffff:01.2.3.4",
    "::ffff:1.2.3.256",
    "::ffff:1.2.3",
    "1::2::3",
    "2001:db8::g",
    "[2001:db8::1",
    "[2001:db8::1]x",
    "2001:db8::1]",
    ":",
    "%",
    "a".repeat(10_000),
    `${" ".repeat(10_000)}1.2.3.4`,
    "1.2.3.4\n",
    "１.2.3.4",
  ])("there is none in %j, or it is that of the text without blanks", (text) => {
    expect([undefined, text.length > 100 ? undefined : text.trim()]).toContain(
      canonicalAddress(text),
    );
    if (text.trim() === text) expect(canonicalAddress(text)).toBeUndefined();
  });

  it.each([undefined, null, 42, true, {}, ["1.2.3.4"]])(
    "of %j, which is no text, is undefined",
    (value) => {
      expect(canonicalAddress(value as string)).toBeUndefined();
    },
  );

  it("is its own canonical address, whatever the input", () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), (text) => {
        const once = canonicalAddress(text);
        expect(once === undefined || canonicalAddress(once) === once).toBe(true);
      }),
    );
  });

  it("is the same for every spelling of one address", () => {
    const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(groups, (parts) => {
        const long = parts.map((part) => part.toString(16).padStart(4, "0")).join(":");
        const short = parts.map((part) => part.toString(16)).join(":");
        expect(canonicalAddress(short)).toBe(canonicalAddress(long));
        expect(canonicalAddress(`[${long.toUpperCase()}]:1`)).toBe(canonicalAddress(long));
        expect(canonicalAddress(long)).toBeDefined();
      }),
    );
  });
});

describe("the client of an address", () => {
  it("is the address itself for IPv4, whatever the prefix", () => {
    expect(clientOfAddress("192.0.2.1", 32)).toBe("192.0.2.1");
  });

  it.each([
    [32, "2001:db8::"],
    [48, "2001:db8:1::"],
    [56, "2001:db8:1:200::"],
    [60, "2001:db8:1:230::"],
    [64, "2001:db8:1:234::"],
    [127, "2001:db8:1:234:5:6:7:8"],
    [128, "2001:db8:1:234:5:6:7:9"],
  ])("is the network of an IPv6 address under /%d", (bits, network) => {
    expect(clientOfAddress("2001:db8:1:234:5:6:7:9", bits)).toBe(
      bits === 128 ? network : canonicalAddress(network),
    );
  });

  it("is one for addresses that differ after the prefix, and two for those that differ in it", () => {
    const bits = fc.integer({ min: 32, max: 128 });
    const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 });
    const differing = fc.integer({ min: 0, max: 127 });
    fc.assert(
      fc.property(bits, bytes, differing, (prefix, address, bit) => {
        const other = Uint8Array.from(address);
        other[bit >> 3] = (other[bit >> 3] as number) ^ (0x80 >> (bit & 7));
        const client = (of: Uint8Array): string => clientOfAddress(textOf(of), prefix);
        expect(client(address) === client(other)).toBe(bit >= prefix);
      }),
    );
  });
});

function textOf(bytes: Uint8Array): string {
  // An address that is not mapped IPv4.
  const groups = Array.from({ length: 8 }, (_, index) =>
    (((bytes[2 * index] as number) << 8) | (bytes[2 * index + 1] as number)).toString(16),
  );
  return groups.join(":");
}

describe("ranges", () => {
  it.each([
    ["10.0.0.0/8", "10.255.0.1", true],
    ["10.0.0.0/8", "11.0.0.1", false],
    ["192.0.2.7", "192.0.2.7", true],
    ["192.0.2.7", "192.0.2.8", false],
    ["0.0.0.0/0", "8.8.8.8", true],
    ["0.0.0.0/0", "2001:db8::1", false],
    ["2001:db8::/32", "2001:db8:ffff::1", true],
    ["2001:db8::/32", "2001:db9::1", false],
    ["::1", "::1", true],
    ["::/0", "192.0.2.1", false],
    ["::ffff:10.0.0.1", "10.0.0.1", true],
    ["192.0.2.1/32", "192.0.2.1", true],
  ])("%s and %s: %s", (range, address, inside) => {
    expect(addressMatcher("allow.ip", [range])(address)).toBe(inside);
  });

  it("match when any of them does", () => {
    const matches = addressMatcher("allow.ip", ["10.0.0.0/8", "::1"]);
    expect([matches("10.1.1.1"), matches("::1"), matches("11.1.1.1")]).toEqual([true, true, false]);
  });

  it.each([
    "",
    "x",
    "10.0.0.0/33",
    "::/129",
    "10.0.0.0/8/8",
    "10.0.0.0/",
    "10.0.0.0/-1",
    "10.0.0.0/8.5",
    "10.0.0/8",
    "01.2.3.4",
  ])("%j is an error that names the option and the value", (range) => {
    expect(() => addressMatcher("allow.ip", ["10.0.0.0/8", range])).toThrow(
      expect.objectContaining({
        code: "INVALID_OPTION",
        message: expect.stringMatching(/^allow\.ip: must be addresses or CIDR ranges/),
      }),
    );
    expect(() => addressMatcher("allow.ip", [range])).toThrow(JSON.stringify(range));
  });

  it("that are no text are an error too", () => {
    expect(() => addressMatcher("allow.ip", [7 as unknown as string])).toThrow(/got 7/);
  });
});
