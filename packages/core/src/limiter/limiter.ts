import { type Clock, type Millis, systemClock } from "../clock.js";
import { type Decision, decisionOf } from "../decision/decision.js";
import { HeadgateError, show } from "../errors.js";
import { type Identity, subjectOf } from "../identity/subject.js";
import { definePolicy } from "../policy/define.js";
import type { Policy, PolicyDefinition } from "../policy/policy.js";
import { type MemoryStore, memoryStore } from "../store/memory/memory-store.js";
import type { ApplyMode, Charge, Store, SyncStore } from "../store/store.js";
import { warnOnce } from "../warnings.js";
import { mergeCharges } from "./charges.js";
import { DegradedLimits } from "./degraded.js";
import { whyNotAlone } from "./deployment.js";
import { GuardedStore } from "./guarded-store.js";
import { StoreErrorReport } from "./store-error-report.js";

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

export interface LimiterOptions<N extends string, S extends Store> {
  /** The policies by name. */
  readonly policies: Readonly<Record<N, PolicyDefinition>>;
  /**
   * Where the counts are kept.
   * @default memoryStore(), which is right for a single process
   */
  readonly store?: S;
  /**
   * The clock of the default store, of the breaker, and of what is enforced locally while a store fails.
   * @default systemClock
   */
  readonly clock?: Clock;
  /**
   * How long a request waits for an asynchronous store, whatever the number of policies.
   * @default 200
   */
  readonly deadlineMs?: Millis;
  /** Identity parts whose values are hashed before they reach a store, such as `["apiKey"]`. */
  readonly secretParts?: readonly string[];
  /**
   * Told of every store failure. A listener that throws changes nothing.
   * @default a process warning, at most one a second
   */
  readonly onStoreError?: (error: HeadgateError) => void;
}

/**
 * Decides requests by named policies. With a store in this process every answer comes at once; with one
 * elsewhere it is a promise, which a failing store does not reject: see `docs/failure-modes.md`.
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
  /** Decides finished charges: what adapters use. At least one charge; at most one of a leaky bucket. */
  decide(charges: readonly Charge[], options?: DecideOptions): Answer<S, Decision>;
  /** The subject of an identity under a policy, or undefined when a part is missing. */
  subjectOf(policy: Policy, identity: Identity): string | undefined;
  /** Closes what the store opened; never a client of the application's. */
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

class StoreLimiter<N extends string> {
  readonly policies: Readonly<Record<N, Policy>>;
  readonly store: Store;
  readonly #guarded: GuardedStore | undefined;
  readonly #degraded: DegradedLimits | undefined;
  readonly #report: StoreErrorReport;
  readonly #secretParts: ReadonlySet<string> | undefined;

  constructor({
    policies,
    store,
    clock = systemClock,
    deadlineMs = 200,
    secretParts,
    onStoreError,
  }: LimiterOptions<N, Store>) {
    if (!(Number.isInteger(deadlineMs) && deadlineMs >= 1 && deadlineMs < 2 ** 31)) {
      throw new HeadgateError(
        "INVALID_OPTION",
        `createLimiter: deadlineMs must be an integer from 1, got ${show(deadlineMs)}`,
      );
    }
    this.policies = namePolicies(policies);
    this.store = store ?? defaultStore(clock);
    this.#secretParts = secretParts === undefined ? undefined : new Set(secretParts);
    this.#report = new StoreErrorReport(clock, onStoreError);
    if (this.store.kind === "async") {
      this.#guarded = new GuardedStore(this.store, { deadlineMs, clock });
      this.#degraded = new DegradedLimits(clock);
    }
  }

  check(
    names: N | readonly N[],
    identity: Identity,
    options?: CheckOptions<N>,
  ): Decision | Promise<Decision> {
    return this.decide(this.#charges(names, identity, options?.cost));
  }

  peek(
    names: N | readonly N[],
    identity: Identity,
    options?: CheckOptions<N>,
  ): Decision | Promise<Decision> {
    return this.decide(this.#charges(names, identity, options?.cost), { mode: "peek" });
  }

  reset(name: N, identity: Identity): void | Promise<void> {
    const { policy, subject } = this.#charge(name, identity, 0);
    return this.store.reset(policy, subject);
  }

  decide(
    charges: readonly Charge[],
    { mode = "commit", wantNext = false }: DecideOptions = {},
  ): Decision | Promise<Decision> {
    const batch = mergeCharges(charges);
    if (this.store.kind === "sync") return decisionOf(this.store.apply(batch, mode, wantNext));
    return this.#decideElsewhere(batch, mode, wantNext);
  }

  subjectOf(policy: Policy, identity: Identity): string | undefined {
    return subjectOf(policy.by, identity, this.#secretParts);
  }

  async close(): Promise<void> {
    if (this.store.kind === "async") await this.store.close();
  }

  async #decideElsewhere(
    batch: readonly Charge[],
    mode: ApplyMode,
    wantNext: boolean,
  ): Promise<Decision> {
    const guarded = this.#guarded as GuardedStore;
    try {
      return decisionOf(await guarded.apply(batch, mode, wantNext));
    } catch (error) {
      this.#report.add(error as HeadgateError);
      return (this.#degraded as DegradedLimits).decide(batch, {
        mode,
        wantNext,
        retryInMs: guarded.retryInMs,
      });
    }
  }

  #charges(names: N | readonly N[], identity: Identity, cost: Cost<N> = 1): readonly Charge[] {
    const costOf = (name: N): number =>
      typeof cost === "object" && cost !== null ? (cost[name] ?? 1) : cost;
    if (typeof names === "string") return [this.#charge(names, identity, costOf(names))];
    if (names.length === 0)
      throw new HeadgateError("UNKNOWN_POLICY", "check: name at least one policy");
    return names.map((name) => this.#charge(name, identity, costOf(name)));
  }

  #charge(name: N, identity: Identity, cost: number): Charge {
    const policy = Object.hasOwn(this.policies, name) ? this.policies[name] : undefined;
    if (policy === undefined) {
      const known = Object.keys(this.policies).join(", ");
      throw new HeadgateError(
        "UNKNOWN_POLICY",
        `policy ${show(name)} is not one of this limiter's: ${known}`,
      );
    }
    const subject = this.subjectOf(policy, identity);
    if (subject === undefined) {
      throw new HeadgateError(
        "INVALID_IDENTITY",
        `policy "${name}": identity must have ${show(policy.by)} as text that is not blank`,
      );
    }
    return { policy, subject, cost };
  }
}

function namePolicies<N extends string>(
  definitions: Readonly<Record<N, PolicyDefinition>>,
): Readonly<Record<N, Policy>> {
  const policies: Record<string, Policy> = {};
  for (const [name, definition] of Object.entries<PolicyDefinition>(definitions)) {
    policies[name] = definePolicy(name, definition);
  }
  if (Object.keys(policies).length === 0)
    throw new HeadgateError(
      "INVALID_OPTION",
      "createLimiter: policies must have at least one policy",
    );
  return Object.freeze(policies) as Record<N, Policy>;
}

function defaultStore(clock: Clock): MemoryStore {
  const reason = whyNotAlone();
  if (reason !== undefined) {
    warnOnce(
      "HEADGATE_MEMORY_STORE",
      `the default store counts in one process, and ${reason}: clients get the limit once per process. Share a Redis store, or pass memoryStore() to say that this is meant.`,
    );
  }
  return memoryStore({ clock });
}
