import ipaddr from "ipaddr.js";
import { HeadgateError, show } from "../errors.js";

/** Longer text is no address: 45 characters, a zone, brackets and a port fit. */
const longestText = 100;
const dottedIpv4 =
  /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/;
const mappedPrefix = "::ffff:";

/**
 * The one spelling of an IP address, without port, brackets and zone, an IPv4-mapped IPv6 address as
 * IPv4. Undefined for anything else, such as `unknown`, a host name, or octal and hexadecimal octets.
 */
export function canonicalAddress(text: string | undefined): string | undefined {
  if (typeof text !== "string" || text.length > longestText) return undefined;
  // The two spellings that Node itself gives come first: they need no parser.
  if (dottedIpv4.test(text)) return text;
  if (text.startsWith(mappedPrefix)) {
    const ipv4 = text.slice(mappedPrefix.length);
    if (dottedIpv4.test(ipv4)) return ipv4;
  }
  const bare = withoutPort(text.trim());
  if (dottedIpv4.test(bare)) return bare;
  const [address = ""] = bare.split("%", 1);
  if (!address.includes(":") || !ipaddr.IPv6.isValid(address)) return undefined;
  // The parser takes octal and hexadecimal octets in the tail, which readers disagree about.
  const tail = address.slice(address.lastIndexOf(":") + 1);
  if (tail.includes(".") && !dottedIpv4.test(tail)) return undefined;
  const parsed = ipaddr.IPv6.parse(address);
  return parsed.isIPv4MappedAddress()
    ? parsed.toIPv4Address().toString()
    : parsed.toRFC5952String();
}

/** `[2001:db8::1]:443` and `192.0.2.1:443` without the port. */
function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text);
  if (bracketed !== null) return bracketed[1] as string;
  const ported = /^([\d.]+):\d{1,5}$/.exec(text);
  return ported === null ? text : (ported[1] as string);
}

/**
 * The client that an address stands for: an IPv4 address itself, or the network of an IPv6 address,
 * since one customer is given a whole network and can change addresses inside it at will.
 *
 * @param address - a canonical address
 * @param ipv6Prefix - length of the network's prefix in bits
 */
export function clientOfAddress(address: string, ipv6Prefix: number): string {
  if (!address.includes(":") || ipv6Prefix === 128) return address;
  const bytes = ipaddr.IPv6.parse(address).toByteArray();
  const network = bytes.map((byte, index) => byte & mask(ipv6Prefix - 8 * index));
  return ipaddr.fromByteArray(network).toString();
}

/** The bits of one byte that lie inside a prefix of which `bits` are left. */
function mask(bits: number): number {
  return bits >= 8 ? 0xff : bits <= 0 ? 0 : (0xff << (8 - bits)) & 0xff;
}

/**
 * A test for membership in any of some addresses and CIDR ranges.
 *
 * @throws HeadgateError `INVALID_OPTION` naming the option and the range that is none
 */
export function addressMatcher(
  option: string,
  ranges: readonly string[],
): (address: string) => boolean {
  const networks = ranges.map((range) => parseRange(option, range));
  return (address) => {
    const parsed = ipaddr.parse(address);
    return networks.some(
      ([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits),
    );
  };
}

function parseRange(option: string, range: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const [address, bits, ...rest] = typeof range === "string" ? range.split("/") : [];
  const canonical = canonicalAddress(address);
  const parsed = canonical === undefined ? undefined : ipaddr.parse(canonical);
  const longest = parsed?.kind() === "ipv4" ? 32 : 128;
  const length = bits === undefined ? longest : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  if (parsed === undefined || rest.length > 0 || !(length <= longest)) {
    throw new HeadgateError(
      "INVALID_OPTION",
      `${option}: must be addresses or CIDR ranges such as "10.0.0.0/8", got ${show(range)}`,
    );
  }
  return [parsed, length];
}
