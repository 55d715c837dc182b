import { type Decision, decisionOf } from "../decision/decision.js";
import { checkOptions, HeadgateError, show } from "../errors.js";
import { extensionFor } from "../extension.js";
import { type Identity, subjectOf } from "../identity/subject.js";
import { ownValue } from "../own-value.js";
import type { KeyBy, Policy, PolicyDefinition, PolicyNumbers } from "../policy/policy.js";
import type { MemoryStore } from "../store/memory/memory-store.js";
import type { ApplyMode, Charge, SafeStore, Store, SyncStore } from "../store/store.js";
import { costFor, mergeCharges } from "./charges.js";
import { policyNamed } from "./named.js";
import { type LimiterOptions, namedPolicies, resolveOptions } from "./options.js";
import { claimPolicies } from "./policy-claims.js";

/** A value at once from a store in this process, or a promise of it from one elsewhere. */
export type Answer<S extends Store, T> = S extends SyncStore ? T : Promise<T>;

/** The cost of a request: one number for all policies, or one for some of them by name (1 for the others). */
export type Cost<N extends string = string> = number | { readonly [Name in N]?: number };

export interface CheckOptions<N extends string = string> {
  /**
   * What the request costs, an integer from 0; 0 only looks.
   * @default 1
   */
  readonly cost?: Cost<N>;
  /** The caller's tier, for policies that have tiers; without one, a policy's own numbers count. */
  readonly tier?: string;
  /** The caller's own numbers under a policy, such as those of a plan kept in a database. They go before a tier. */
  readonly limits?: { readonly [Name in N]?: PolicyNumbers };
}

/** How a batch of finished charges is to be decided. */
export interface DecideOptions {
  /** @default "commit" */
  readonly mode?: ApplyMode;
  /**
   * Whether outcomes tell when `remaining` grows.
   * @default false
   */
  readonly wantNext?: boolean;
}

/**
 * Decides requests by named policies. With a store in this process every answer comes at once; with one
 * elsewhere it is a promise, which a failing store does not reject: see `docs/failure-modes.md`. What the
 * application got wrong rejects it, such as one name for two different policies (`POLICY_CONFLICT`).
 */
export interface Limiter<N extends string = string, S extends Store = Store> {
  readonly policies: Readonly<Record<N, Policy>>;
  readonly store: S;
  /**
   * Decides and counts one request under one or several policies: admitted by all and charged to all, or
   * refused and charged to none.
   *
   * @throws HeadgateError `UNKNOWN_POLICY`, `INVALID_IDENTITY` for a missing or blank part, `INVALID_CHARGE` for a wrong cost
   */
  check(
    names: N | readonly N[],
    identity: Identity,
    options?: CheckOptions<N>,
  ): Answer<S, Decision>;
  /** What `check` would answer, without counting anything. */
  peek(names: N | readonly N[], identity: Identity, options?: CheckOptions<N>): Answer<S, Decision>;
  /** Makes one identity untouched under one policy. */
  reset(name: N, identity: Identity): Answer<S, void>;
  /**
   * Puts other policies in the place of all, under the same names. Live counts follow each policy's `migrate`
   * rule where its version is higher, and are kept otherwise.
   *
   * @throws HeadgateError as `createLimiter` does, and for what a mount cannot have; then nothing has changed
   */
  replacePolicies(policies: Readonly<Record<N, PolicyDefinition>>): void;
  /** Decides finished charges: what adapters use. At least one charge; at most one of a leaky bucket. */
  decide(charges: readonly Charge[], options?: DecideOptions): Answer<S, Decision>;
  /**
   * Asks the store something of its own, within the deadline; a failure of the store rejects.
   *
   * @param degraded - asks what this process counts by itself while the store fails
   */
  ask<T>(call: (store: Store) => T | Promise<T>, degraded?: boolean): Answer<S, T>;
  /** A charge of cost 0: the policy of a name, and the subject of an identity under it. Throws as `check` does. */
  chargeOf(name: N, identity: Identity): Charge;
  /** Whether a policy is one that this limiter has, or has had before it was replaced. */
  hasHad(policy: Policy): boolean;
  /** The subject of an identity under a policy's key, or undefined when a part is missing. */
  subjectOf(by: KeyBy, identity: Identity): string | undefined;
  /** What keeps requests safe from an asynchronous store's failures; undefined for a store in this process. */
  readonly safe: SafeStore | undefined;
  /** Aborted by `close`. */
  readonly closing: AbortSignal;
  /** Closes what the store opened, never a client of the application's, and lets held requests go on. */
  close(): Promise<void>;
}

/**
 * Makes a limiter.
 *
 * @throws HeadgateError `INVALID_POLICY` or `INVALID_OPTION` for a broken configuration
 */
export function createLimiter<const N extends string, S extends Store = MemoryStore>(
  options: LimiterOptions<N, S>,
): Limiter<N, S> {
  return new StoreLimiter(options as LimiterOptions<N, Store>) as unknown as Limiter<N, S>;
}

const plain = {};

class StoreLimiter<N extends string> {
  readonly store: Store;
  #policies: Readonly<Record<N, Policy>>;
  readonly safe: SafeStore | undefined;
  readonly #had = new WeakSet<Policy>();
  readonly #closing = new AbortController();
  readonly #secretParts: ReadonlySet<string> | undefined;

  constructor(options: LimiterOptions<N, Store>) {
    const { policies, store, clock, deadlineMs, secretParts, onStoreError } =
      resolveOptions(options);
    this.store = store;
    this.#policies = this.#claim(policies, false);
    this.#secretParts = secretParts;
    if (store.kind === "async")
      this.safe = store.failsafe(store, { deadlineMs, clock, onStoreError });
  }

  get policies(): Readonly<Record<N, Policy>> {
    return this.#policies;
  }

  check(
    names: N | readonly N[],
    identity: Identity,
    options?: CheckOptions<N>,
  ): Decision | Promise<Decision> {
    return this.decide(this.#charges(names, identity, options));
  }

  peek(
    names: N | readonly N[],
    identity: Identity,
    options?: CheckOptions<N>,
  ): Decision | Promise<Decision> {
    return this.decide(this.#charges(names, identity, options), { mode: "peek" });
  }

  reset(name: N, identity: Identity): void | Promise<void> {
    const { policy, subject } = this.chargeOf(name, identity);
    const reset = (store: Store) => store.reset(policy, subject);
    if (this.safe === undefined) return this.ask(reset);
    // What this process counted by itself while the store failed must not be forgotten here.
    return this.safe.ask(reset, true).then(() => this.ask(reset));
  }

  replacePolicies(definitions: Readonly<Record<N, PolicyDefinition>>): void {
    const policies = namedPolicies(definitions);
    // Mounts may still name any of the present ones.
    for (const name of Object.keys(this.#policies)) policyNamed(policies, name);
    this.#policies = this.#claim(policies, true);
  }

  decide(
    charges: readonly Charge[],
    { mode = "commit", wantNext = false }: DecideOptions = {},
  ): Decision | Promise<Decision> {
    const batch = mergeCharges(charges);
    if (this.safe !== undefined) return this.safe.decide(batch, mode, wantNext);
    return decisionOf((this.store as SyncStore).apply(batch, mode, wantNext));
  }

  chargeOf(name: N, identity: Identity): Charge {
    const policy = policyNamed(this.#policies, name);
    return { policy, subject: this.#subjectFor(policy, identity), cost: 0 };
  }

  hasHad(policy: Policy): boolean {
    return this.#had.has(policy);
  }

  subjectOf(by: KeyBy, identity: Identity): string | undefined {
    return subjectOf(by, identity, this.#secretParts);
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    if (this.store.kind === "async") await this.store.close();
  }

  ask<T>(call: (store: Store) => T | Promise<T>, degraded = false): T | Promise<T> {
    return this.safe === undefined ? call(this.store) : this.safe.ask(call, degraded);
  }

  #claim(policies: Readonly<Record<N, Policy>>, replace: boolean): Readonly<Record<N, Policy>> {
    const claimed = claimPolicies(this.store, policies, replace);
    for (const policy of Object.values<Policy>(claimed)) this.#had.add(policy);
    return claimed;
  }

  #charges(
    names: N | readonly N[],
    identity: Identity,
    options: CheckOptions<N> = plain,
  ): readonly Charge[] {
    if (options !== plain) {
      checkOptions("check", options, ["cost", "tier", "limits"]);
      for (const byName of [options.cost, options.limits])
        if (typeof byName === "object")
          for (const name of Object.keys(byName ?? plain)) policyNamed(this.#policies, name);
    }
    const list: readonly N[] = typeof names === "string" ? [names] : names;
    if (!Array.isArray(list) || list.length === 0)
      throw new HeadgateError("UNKNOWN_POLICY", `check: name a policy, got ${show(names)}`);
    const { cost = 1 } = options;
    let last: Charge | undefined;
    return list.map((name) => {
      const policy = this.#policyFor(name, options);
      // Policies that count alike share one text: it is made once, and found faster.
      const subject =
        last?.policy.by === policy.by ? last.subject : this.#subjectFor(policy, identity);
      last = { policy, subject, cost: costFor(name, cost) };
      return last;
    });
  }

  #policyFor(name: N, { tier, limits }: CheckOptions<N>): Policy {
    const policy = policyNamed(this.#policies, name);
    const numbers = ownValue<PolicyNumbers | undefined>(limits, name);
    if (tier === undefined && numbers === undefined) return policy;
    const variant = extensionFor("tier").variant(policy, { tier, numbers });
    if (typeof variant !== "string") return variant;
    throw new HeadgateError("INVALID_CHARGE", `policy "${name}": ${variant}`);
  }

  #subjectFor({ name, by }: Policy, identity: Identity): string {
    const subject = this.subjectOf(by, identity);
    if (subject !== undefined) return subject;
    throw new HeadgateError(
      "INVALID_IDENTITY",
      `policy "${name}": identity must have ${JSON.stringify(by)} as text that is not blank, got ${showIdentity(identity)}`,
    );
  }
}

/** What an identity lacks: the values that are blank or no text. The others are people's, and stay out of logs. */
function showIdentity(identity: Identity): string {
  if (typeof identity !== "object" || identity === null) return show(identity);
  const shown = Object.entries<unknown>(identity).map(([part, value]) =>
    typeof value === "string" && value.trim() !== "" ? part : `${part} ${show(value)}`,
  );
  return shown.length === 0 ? "none of it" : shown.join(", ");
}
