import { HeadgateError, show } from "../errors.js";
import { addressMatcher, canonicalAddress } from "./address.js";

/** Entries of one X-Forwarded-For that are ever looked at, counted from the right. */
const mostEntries = 64;

/**
 * Where the client's address is read.
 *
 * - `trustedProxies: n`: behind n proxies that append to X-Forwarded-For; its n-th entry from the right.
 * - `trustedProxies: ["10.0.0.0/8"]`: the first address from the right outside these ranges.
 * - `header`: a header that the platform overwrites on every request, such as `x-real-ip`.
 * - a function: whatever the application knows better.
 */
export type AddressSource<Request> =
  | { readonly trustedProxies: number | readonly string[] }
  | { readonly header: string }
  | ((request: Request) => string | undefined);

/** What a source reads from: a header's value, and the address at the other end of the connection where it is known. */
export interface AddressReader<Request> {
  header(request: Request, name: string): string | undefined;
  socketAddress(request: Request): string | undefined;
}

/**
 * Compiles a source to a function from a request to the client's canonical address, or undefined where
 * the source holds none: a forged or broken entry is as good as no entry.
 *
 * @throws HeadgateError `INVALID_OPTION` for a source of none of the kinds
 */
export function addressFrom<Request>(
  source: AddressSource<Request>,
  reader: AddressReader<Request>,
): (request: Request) => string | undefined {
  if (typeof source === "function") return (request) => canonicalAddress(source(request));
  const { header, trustedProxies: trusted } = Object(source) as {
    readonly header?: unknown;
    readonly trustedProxies?: unknown;
  };
  if (typeof header === "string" && header !== "") {
    const name = header.toLowerCase();
    return (request) => canonicalAddress(reader.header(request, name));
  }
  if (
    typeof trusted === "number" &&
    Number.isInteger(trusted) &&
    trusted >= 0 &&
    trusted <= mostEntries
  ) {
    return (request) => addressAtHop(chainOf(request, reader), trusted);
  }
  if (Array.isArray(trusted)) {
    const isTrusted = addressMatcher("ip.trustedProxies", trusted as readonly string[]);
    return (request) => firstUntrusted(chainOf(request, reader), isTrusted);
  }
  throw new HeadgateError(
    "INVALID_OPTION",
    `ip: must be { trustedProxies: a count from 0 or CIDR ranges }, { header: a name } or a function, got ${show(trusted ?? source)}`,
  );
}

/** The way a request came, nearest first: the socket, then X-Forwarded-For from the right. */
function chainOf<Request>(
  request: Request,
  reader: AddressReader<Request>,
): readonly (string | undefined)[] {
  const chain: (string | undefined)[] = [reader.socketAddress(request)];
  const header = reader.header(request, "x-forwarded-for");
  if (header === undefined || header === "") return chain;
  let end = header.length;
  while (end >= 0 && chain.length <= mostEntries) {
    const comma = end === 0 ? -1 : header.lastIndexOf(",", end - 1);
    chain.push(header.slice(comma + 1, end).trim());
    end = comma;
  }
  return chain;
}

/** Behind `hops` proxies; the farthest entry there is when the request came a shorter way. */
function addressAtHop(chain: readonly (string | undefined)[], hops: number): string | undefined {
  return canonicalAddress(chain[Math.min(hops, chain.length - 1)]);
}

function firstUntrusted(
  chain: readonly (string | undefined)[],
  isTrusted: (address: string) => boolean,
): string | undefined {
  let farthest: string | undefined;
  for (const [index, entry] of chain.entries()) {
    const address = canonicalAddress(entry);
    // Where the platform does not tell the socket's address, the nearest proxy is taken on trust.
    if (index === 0 && entry === undefined) continue;
    if (address === undefined || !isTrusted(address)) return address;
    farthest = address;
  }
  return farthest;
}
