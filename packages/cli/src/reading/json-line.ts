import type { Millis } from "@headgate/core";
import { jsonTime } from "./json-time.js";
import type { LineParser, LoggedRequest } from "./request.js";

type Json = Readonly<Record<string, unknown>>;

/** Where loggers of today put what a replay needs; the first that a line has counts. */
const places: Readonly<Record<string, readonly string[]>> = {
  time: ["time", "timestamp", "@timestamp", "ts", "date", "datetime"],
  ip: [
    "ip",
    "remote_addr",
    "remoteAddr",
    "remoteAddress",
    "remote_ip",
    "client_ip",
    "clientIp",
    "req.remoteAddress",
    "request.client_ip",
    "request.remote_ip",
    "ClientHost",
  ],
  user: ["user", "remote_user", "user_id", "userId", "req.user", "request.user_id"],
  method: ["method", "request_method", "req.method", "request.method", "RequestMethod"],
  path: ["path", "url", "uri", "request_uri", "req.url", "request.uri", "RequestPath"],
  status: ["status", "statusCode", "status_code", "res.statusCode", "DownstreamStatus"],
};

/**
 * A parser of JSON lines.
 *
 * @param timeField - where the time is, when it is at none of the usual places
 */
export function jsonLineParser(timeField?: string): LineParser {
  const timePlaces = timeField === undefined ? (places.time as readonly string[]) : [timeField];
  return (bytes, start, end) => {
    let line: unknown;
    try {
      line = JSON.parse(bytes.toString("utf8", start, end));
    } catch {
      return "it is no JSON";
    }
    if (typeof line !== "object" || line === null || Array.isArray(line))
      return "it is no JSON object";
    const found = firstOf(line as Json, timePlaces);
    if (found === undefined) return `it has no ${timePlaces[0]}`;
    const timeMs = jsonTime(found);
    return timeMs >= 0 ? new JsonLine(line as Json, timeMs) : `its ${timePlaces[0]} is no time`;
  };
}

class JsonLine implements LoggedRequest {
  timeMs: Millis;
  readonly #line: Json;

  constructor(line: Json, timeMs: Millis) {
    this.#line = line;
    this.timeMs = timeMs;
  }

  field(name: string): string | undefined {
    const known = Object.hasOwn(places, name) ? (places[name] as readonly string[]) : [name];
    const value = firstOf(this.#line, known);
    if (typeof value === "string") return value === "" || value === "-" ? undefined : value;
    return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
  }

  fieldNames(): readonly string[] {
    return Object.entries(this.#line).flatMap(([name, value]) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.keys(value).map((inner) => `${name}.${inner}`)
        : [name],
    );
  }
}

/** The value at the first of some places that has one. */
function firstOf(line: Json, names: readonly string[]): unknown {
  for (const name of names) {
    const value = valueAt(line, name);
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/** The value of a name, which may hold dots itself, or lead into objects by them. */
function valueAt(line: Json, name: string): unknown {
  if (Object.hasOwn(line, name)) return line[name];
  let value: unknown = line;
  for (const step of name.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step))
      return undefined;
    value = (value as Json)[step];
  }
  return value;
}
