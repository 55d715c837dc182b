import { show } from "../errors.js";
import type { Identity } from "../identity/subject.js";
import type { KeyBy, Policy } from "../policy/policy.js";
import { warnOnce } from "../warnings.js";
import { addressMatcher, clientOfAddress } from "./address.js";
import { after } from "./after.js";
import type { MissingKeyRule, ResolvedOptions } from "./options.js";

/** Who makes a request: its address as the source gave it, and the identity that policies count by. */
export interface Caller {
  readonly address: string | undefined;
  readonly identity: Identity;
}

/** The subject to charge, or why there is none: the caller is let through, or refused. */
export type SubjectOrRule = { readonly subject: string } | { readonly rule: "allow" | "deny" };

/** Where a caller's address and subjects come from. */
export interface CallerSources<Request> {
  /** The client's address in canonical form. */
  readonly addressOf: (request: Request) => string | undefined;
  readonly subjectOf: (by: KeyBy, identity: Identity) => string | undefined;
}

/** Finds out who calls, whether they are on the allow list, and what subject a policy counts them under. */
export class CallerResolver<Request, N extends string> {
  readonly #options: ResolvedOptions<Request, N>;
  readonly #sources: CallerSources<Request>;
  readonly #identifies: boolean;
  readonly #allowedAddress: ((address: string) => boolean) | undefined;
  readonly #allowedParts: readonly (readonly [part: string, values: ReadonlySet<string>])[];
  #identitySeen = false;

  /** @param policies - those that a request may meet */
  constructor(
    options: ResolvedOptions<Request, N>,
    policies: readonly Policy[],
    sources: CallerSources<Request>,
  ) {
    const { ip, ...parts } = options.allow ?? {};
    this.#options = options;
    this.#sources = sources;
    this.#allowedAddress = ip === undefined ? undefined : addressMatcher("allow.ip", ip);
    this.#allowedParts = Object.entries(parts).map(([part, values]) => [part, new Set(values)]);
    this.#identifies =
      this.#allowedParts.length > 0 || policies.some(({ by }) => by !== "ip" && by !== "global");
  }

  resolve(request: Request): Caller | Promise<Caller> {
    const address = this.#sources.addressOf(request);
    const { identify, ipv6Prefix } = this.#options;
    const ip = address === undefined ? undefined : clientOfAddress(address, ipv6Prefix);
    if (identify === undefined || !this.#identifies) return { address, identity: { ip } };
    return after(identify(request), (parts) => {
      this.#look(parts);
      return { address, identity: { ...parts, ip } };
    });
  }

  isAllowed({ address, identity }: Caller): boolean {
    if (address !== undefined && this.#allowedAddress?.(address) === true) return true;
    return this.#allowedParts.some(([part, values]) => {
      const value = identity[part];
      return value !== undefined && values.has(value);
    });
  }

  /** The subject that a policy counts a caller under. */
  subjectOf(policy: Policy, { identity }: Caller): SubjectOrRule {
    const subject = this.#sources.subjectOf(policy.by, identity);
    return subject === undefined ? this.#withoutKey(policy, identity) : { subject };
  }

  #withoutKey(policy: Policy, identity: Identity): SubjectOrRule {
    const rule: MissingKeyRule = this.#options.onMissingKey;
    this.#warnOfOrder(policy);
    if (rule === "allow" || rule === "deny") return { rule };
    const subject = rule === "ip" ? this.#sources.subjectOf("ip", identity) : undefined;
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
    if (this.#identitySeen || by === "ip") return;
    warnOnce(
      "HEADGATE_NO_IDENTITY",
      `policy "${name}" counts by ${show(by)}, and no request has had that so far. Does the limiter stand after authentication, and does identify return it?`,
    );
  }
}
