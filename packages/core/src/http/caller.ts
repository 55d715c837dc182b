import { show } from "../errors.js";
import type { Identity } from "../identity/subject.js";
import type { Limiter } from "../limiter/limiter.js";
import type { KeyBy, Policy } from "../policy/policy.js";
import { warnOnce } from "../warnings.js";
import { addressMatcher, canonicalAddress, clientOfAddress } from "./address.js";
import { after } from "./after.js";
import type { MissingKeyRule, ResolvedOptions } from "./options.js";
import { Recent } from "./recent.js";

/** Who makes a request: its address as the source gave it, and the identity that policies count by. */
export interface Caller {
  readonly address: string | undefined;
  readonly identity: Identity;
  /** The subject of the address. */
  readonly ipSubject: string | undefined;
}

/** The subject to charge, or why there is none: the caller is let through, or refused. */
export type SubjectOrRule = { readonly subject: string } | { readonly rule: "allow" | "deny" };

/** What policies need to know of a request besides its address. */
export interface Needs {
  readonly identity: boolean;
  readonly route: boolean;
}

/** Where a caller's address and subjects come from. */
export interface CallerSources<Request> {
  /** The client's address, as its source spells it. */
  readonly addressOf: (request: Request) => string | undefined;
  /** The pattern of the request's route. */
  readonly routeOf: (request: Request) => string;
  /** Makes subjects of identities. */
  readonly limiter: Pick<Limiter, "subjectOf">;
}

const unknownCaller: Caller = {
  address: undefined,
  identity: { ip: undefined },
  ipSubject: undefined,
};

const keysSeen = new WeakMap<object, Set<string>>();

/** One memory for all mounts of a limiter that group addresses alike. */
const known = new WeakMap<object, Map<number, Recent<Caller>>>();

function knownCallers<Request>(
  { limiter }: CallerSources<Request>,
  ipv6Prefix: number,
): Recent<Caller> {
  const byPrefix = known.get(limiter) ?? new Map<number, Recent<Caller>>();
  known.set(limiter, byPrefix);
  const callers =
    byPrefix.get(ipv6Prefix) ??
    new Recent<Caller>((text) => {
      const address = canonicalAddress(text);
      if (address === undefined) return unknownCaller;
      const identity = { ip: clientOfAddress(address, ipv6Prefix) };
      return { address, identity, ipSubject: limiter.subjectOf("ip", identity) };
    });
  byPrefix.set(ipv6Prefix, callers);
  return callers;
}

/** Finds out who calls, whether they are on the allow list, and what subject a policy counts them under. */
export class CallerResolver<Request, N extends string> {
  readonly #options: ResolvedOptions<Request, N>;
  readonly #sources: CallerSources<Request>;
  readonly #known: Recent<Caller>;
  readonly #allowedAddress: ((address: string) => boolean) | undefined;
  readonly #allowedParts: readonly (readonly [part: string, values: ReadonlySet<string>])[];
  /** The policies whose key some request has had, on any mount of the limiter. */
  readonly #keysSeen: Set<string>;
  #identitySeen = false;

  constructor(options: ResolvedOptions<Request, N>, sources: CallerSources<Request>) {
    const { ip, ...parts } = options.allow ?? {};
    this.#options = options;
    this.#sources = sources;
    this.#allowedAddress = ip === undefined ? undefined : addressMatcher("allow.ip", ip);
    this.#allowedParts = Object.entries(parts).map(([part, values]) => [part, new Set(values)]);
    this.#known = knownCallers(sources, options.ipv6Prefix);
    this.#keysSeen = keysSeen.get(sources.limiter) ?? new Set();
    keysSeen.set(sources.limiter, this.#keysSeen);
  }

  resolve(request: Request, needs: Needs): Caller | Promise<Caller> {
    const address = this.#sources.addressOf(request);
    const caller = address === undefined ? unknownCaller : this.#known.of(address);
    const { identify } = this.#options;
    const identifies = identify !== undefined && (needs.identity || this.#allowedParts.length > 0);
    if (!identifies && !needs.route) return caller;
    const { ip } = caller.identity;
    const own = needs.route ? { ip, route: this.#sources.routeOf(request) } : { ip };
    if (!identifies) return { ...caller, identity: own };
    return after(identify(request), (parts) => {
      this.#look(parts);
      return { ...caller, identity: { ...parts, ...own } };
    });
  }

  isAllowed({ address, identity }: Caller): boolean {
    if (this.#allowedAddress === undefined && this.#allowedParts.length === 0) return false;
    if (address !== undefined && this.#allowedAddress?.(address) === true) return true;
    return this.#allowedParts.some(([part, values]) => {
      const value = identity[part];
      return value !== undefined && values.has(value);
    });
  }

  /** The subject that a policy counts a caller under. */
  subjectOf(policy: Policy, { identity, ipSubject }: Caller): SubjectOrRule {
    if (policy.by === "ip")
      return ipSubject === undefined ? this.#withoutKey(policy, ipSubject) : { subject: ipSubject };
    const subject = this.#sources.limiter.subjectOf(policy.by, identity);
    if (subject === undefined) return this.#withoutKey(policy, ipSubject);
    this.#keysSeen.add(policy.name);
    return { subject };
  }

  #withoutKey(policy: Policy, ipSubject: string | undefined): SubjectOrRule {
    const rule: MissingKeyRule = this.#options.onMissingKey;
    this.#warnOfOrder(policy);
    if (rule === "allow" || rule === "deny") return { rule };
    const subject = rule === "ip" ? ipSubject : undefined;
    if (subject !== undefined) return { subject };
    warnOnce(
      "HEADGATE_SHARED_KEY",
      `policy "${policy.name}": a request had neither its key nor an address; all such requests share one bucket. See the options ip and onMissingKey.`,
    );
    return { subject: "shared=" };
  }

  /** Notes whether identities arrive, and says so once when one has a part that is not text. */
  #look(parts: Identity | undefined): void {
    for (const [part, value] of Object.entries<unknown>(parts ?? {})) {
      if (typeof value === "string") this.#identitySeen = true;
      else if (value !== undefined && value !== null) {
        warnOnce(
          "HEADGATE_IDENTITY",
          `identify: ${part} must be text, got ${show(value)}, which counts as missing; use String(...)`,
        );
      }
    }
  }

  #warnOfOrder({ name, by }: Policy): void {
    if (this.#identitySeen || by === "ip" || this.#keysSeen.has(name)) return;
    warnOnce(
      "HEADGATE_NO_IDENTITY",
      `policy "${name}" counts by ${show(by)}, and no request has had that so far. Does the limiter stand after authentication, and does identify return it?`,
    );
  }
}

/** Whether a policy's key has the route in it. */
export function countsByRoute({ by }: Policy): boolean {
  return partsOf(by).includes("route");
}

/**
 * What some policies need together: who it is that asks, for their keys or for limits of the caller's own.
 *
 * @param limits - the application's functions by policy name, which are given the whole identity
 */
export function needsOf(policies: readonly Policy[], limits: object = {}): Needs {
  const parts = policies.flatMap(({ by }) => partsOf(by));
  return {
    identity:
      parts.some((part) => part !== "ip" && part !== "global" && part !== "route") ||
      policies.some(({ name }) => Object.hasOwn(limits, name)),
    route: parts.includes("route"),
  };
}

/** Every identity part that a key may ask for. */
function partsOf(by: KeyBy): readonly string[] {
  if (typeof by === "string") return [by];
  return "firstOf" in by ? by.firstOf.flat() : by;
}
