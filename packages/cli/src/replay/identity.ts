import { type Identity, type KeyBy, type KeyParts, subjectOf } from "@headgate/core";
import { canonicalAddress, clientOfAddress } from "@headgate/core/http";
import type { LoggedRequest } from "../reading/request.js";
import type { Client, Clients } from "./clients.js";
import { routeOf } from "./routes.js";

/** The networks of IPv6 clients, as adapters count them by default. */
const ipv6Prefix = 56;
/** Longer values are not remembered: a log may hold anything. */
const longestRemembered = 256;

interface FinderOptions {
  /** The field of each identity part that does not have its name. */
  readonly fields: ReadonlyMap<string, string>;
  /** Clients whose spelling in the log is remembered; beyond, that starts afresh. */
  readonly maxKeys: number;
}

/** Finds the clients that one key tells apart in the requests of a log. */
export class ClientFinder {
  readonly #by: KeyBy;
  readonly #clients: Clients;
  readonly #mostRemembered: number;
  readonly #parts: readonly string[];
  readonly #fields: readonly string[];
  /** By what the log says, since to make a subject of it takes longer than to read it. */
  readonly #known = new Map<string, Client>();

  constructor(by: KeyBy, clients: Clients, { fields, maxKeys }: FinderOptions) {
    this.#by = by;
    this.#clients = clients;
    this.#mostRemembered = maxKeys;
    this.#parts = partsOf(by);
    this.#fields = this.#parts.map((part) => fields.get(part) ?? part);
  }

  /** The client of a request, or undefined when the request has not all parts of the key. */
  find(request: LoggedRequest): Client | undefined {
    const said =
      this.#fields.length === 1
        ? fieldOf(request, this.#fields[0] as string)
        : this.#fields.map((field) => marked(fieldOf(request, field))).join();
    if (said === undefined) return undefined;
    const known = this.#known.get(said);
    if (known !== undefined) return known;
    const subject = this.#subjectOf(request);
    if (subject === undefined) return undefined;
    const client = this.#clients.client(subject);
    if (this.#known.size >= this.#mostRemembered) this.#known.clear();
    if (said.length <= longestRemembered) this.#known.set(said, client);
    return client;
  }

  #subjectOf(request: LoggedRequest): string | undefined {
    const identity = this.#parts.map((part, index) => {
      const value = fieldOf(request, this.#fields[index] as string);
      return [part, part === "ip" && value !== undefined ? clientOfHost(value) : value];
    });
    return subjectOf(this.#by, Object.fromEntries(identity) as Identity);
  }
}

/** A field of a request; the route is worked out, since a log has the path alone. */
function fieldOf(request: LoggedRequest, field: string): string | undefined {
  return request.field(field) ?? (field === "route" ? routeOf(request) : undefined);
}

/** An address as adapters count it. Servers may log a host's name instead, which stands for itself. */
function clientOfHost(text: string): string {
  const address = canonicalAddress(text);
  return address === undefined ? text.toLowerCase() : clientOfAddress(address, ipv6Prefix);
}

/** A value such that no list of them can be taken for another. */
function marked(value: string | undefined): string {
  return value === undefined ? "-" : `${value.length}:${value}`;
}

/** All parts that a key may look at. */
export function partsOf(by: KeyBy): readonly string[] {
  const parts: readonly KeyParts[] =
    typeof by === "object" && "firstOf" in by ? by.firstOf : [by as KeyParts];
  return [...new Set(parts.flat())].filter((part) => part !== "global");
}

/** The key of global policies in words. */
export const everybody = "everybody";

/** A key in words: `ip`, `ip and account`, `user, else ip`, `everybody`. */
export function keyWords(by: KeyBy): string {
  if (typeof by === "string") return by === "global" ? everybody : by;
  if ("firstOf" in by) return by.firstOf.map(keyWords).join(", else ");
  return by.join(" and ");
}
