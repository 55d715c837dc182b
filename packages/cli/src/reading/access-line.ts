import type { Millis } from "@headgate/core";
import { AccessTime, accessTimeLength } from "./access-time.js";
import type { LineParser, LoggedRequest } from "./request.js";

const [space, quote, backslash, colon, open, close] = [0x20, 0x22, 0x5c, 0x3a, 0x5b, 0x5d];
const fields = ["ip", "user", "method", "path", "status"];

/**
 * A parser of the common and the combined log format, `host ident user [time] "request" status bytes …`, also with
 * a virtual host before the host. Strings are made of what is asked for alone.
 */
export function accessLineParser(): LineParser {
  const time = new AccessTime();
  return (bytes, start, end) => {
    const host = hostStart(bytes, start, end);
    const hostEnd = bytes.indexOf(space, host);
    if (hostEnd <= host || hostEnd >= end) return "it has no fields";
    const bracket = openingBracket(bytes, hostEnd, end);
    if (bracket < 0) return "it has no time in brackets";
    const timeMs = time.read(bytes, bracket + 1);
    if (!(timeMs >= 0)) return "its time is none";
    const request = bracket + accessTimeLength + 3;
    if (bytes[request] !== quote || request >= end) return "it has no request in quotes";
    const requestEnd = closingQuote(bytes, request + 1, end);
    if (requestEnd < 0) return "its request has no closing quote";
    return new AccessLine({ bytes, timeMs, host, hostEnd, bracket, request, requestEnd, end });
  };
}

/** Where the parts of a line are. */
interface Places {
  readonly bytes: Buffer;
  readonly timeMs: Millis;
  readonly host: number;
  readonly hostEnd: number;
  readonly bracket: number;
  readonly request: number;
  readonly requestEnd: number;
  readonly end: number;
}

class AccessLine implements LoggedRequest {
  timeMs: Millis;
  readonly #places: Places;

  constructor(places: Places) {
    this.timeMs = places.timeMs;
    this.#places = places;
  }

  field(name: string): string | undefined {
    const { bytes, host, hostEnd, requestEnd, end } = this.#places;
    switch (name) {
      case "ip":
        return present(bytes.toString("latin1", host, hostEnd));
      case "user":
        return this.#user();
      case "method":
        return this.#requestWord(0);
      case "path":
        return this.#requestWord(1);
      case "status":
        return /^ (\d{3})(?: |$)/.exec(
          bytes.toString("latin1", requestEnd + 1, Math.min(end, requestEnd + 6)),
        )?.[1];
      default:
        return undefined;
    }
  }

  fieldNames(): readonly string[] {
    return fields;
  }

  /** A user's name may hold spaces: it is all between the identity and the time. */
  #user(): string | undefined {
    const { bytes, hostEnd, bracket } = this.#places;
    const identEnd = bytes.indexOf(space, hostEnd + 1);
    if (identEnd < 0 || identEnd + 1 >= bracket - 1) return undefined;
    return present(bytes.toString("utf8", identEnd + 1, bracket - 1));
  }

  /** A request line that is not of HTTP has no words. */
  #requestWord(index: 0 | 1): string | undefined {
    const { bytes, request, requestEnd } = this.#places;
    const words = bytes.toString("utf8", request + 1, requestEnd).split(" ");
    const isHttp = words.length === 3 && /^[A-Z-]{1,20}$/.test(words[0] as string);
    return isHttp && words[2]?.startsWith("HTTP/") ? words[index] : undefined;
  }
}

function present(text: string): string | undefined {
  return text === "-" || text === '""' || text === "" ? undefined : text;
}

/** Where the client's host begins: at the start, or after a virtual host with a port. */
function hostStart(bytes: Buffer, start: number, end: number): number {
  let colons = 0;
  let at = start;
  for (; at < end && bytes[at] !== space; at += 1) if (bytes[at] === colon) colons += 1;
  // One colon makes no IPv6 address; digits and dots before it are an address with its port.
  if (colons !== 1) return start;
  const isAddress = /^[\d.]+:/.test(bytes.toString("latin1", start, at));
  return isAddress || bytes[at + 2] === space ? start : at + 1;
}

/** The bracket that opens the time: one that a user's name may hold closes elsewhere. */
function openingBracket(bytes: Buffer, from: number, end: number): number {
  for (let at = from; at + accessTimeLength + 1 < end; at += 1) {
    if (bytes[at] === open && bytes[at - 1] === space && bytes[at + accessTimeLength + 1] === close)
      return at;
  }
  return -1;
}

function closingQuote(bytes: Buffer, from: number, end: number): number {
  for (let at = from; at < end; at += 1) {
    const byte = bytes[at];
    if (byte === quote) return at;
    if (byte === backslash) at += 1;
  }
  return -1;
}
