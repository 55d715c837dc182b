import { type Decision, decisionOf } from "../decision/decision.js";
import { checkOptions, HeadgateError, show } from "../errors.js";
import { type Identity, subjectOf } from "../identity/subject.js";
import type { KeyBy, Policy } from "../policy/policy.js";
import type { MemoryStore } from "../store/memory/memory-store.js";
import type { ApplyMode, Charge, Store, SyncStore } from "../store/store.js";
import { costFor, mergeCharges } from "./charges.js";
import { DegradedLimits } from "./degraded.js";
import { GuardedStore, isStoreFailure } from "./guarded-store.js";
import { type LimiterOptions, resolveOptions } from "./options.js";
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
  /** Decides finished charges: what adapters use. At least one charge; at most one of a leaky bucket. */
  decide(charges: readonly Charge[], options?: DecideOptions): Answer<S, Decision>;
  /** The subject of an identity under a policy's key, or undefined when a part is missing. */
  subjectOf(by: KeyBy, identity: Identity): string | undefined;
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

class StoreLimiter<N extends string> {
  readonly policies: Readonly<Record<N, Policy>>;
  readonly store: Store;
  readonly #guarded: GuardedStore | undefined;
  readonly #degraded: DegradedLimits | undefined;
  readonly #report: StoreErrorReport;
  readonly #closing = new AbortController();
  readonly #secretParts: ReadonlySet<string> | undefined;

  constructor(options: LimiterOptions<N, Store>) {
    const { policies, store, clock, deadlineMs, secretParts, onStoreError } =
      resolveOptions(options);
    this.policies = policies;
    this.store = store;
    this.#secretParts = secretParts;
    this.#report = new StoreErrorReport(clock, onStoreError);
    if (store.kind === "async") {
      this.#guarded = new GuardedStore(store, { deadlineMs, clock });
      this.#degraded = new DegradedLimits(clock);
    }
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
    const { policy, subject } = this.#charge(name, identity, 0);
    // What this process counted by itself while the store failed must not be forgotten here.
    this.#degraded?.reset(policy, subject);
    return (this.#guarded ?? (this.store as SyncStore)).reset(policy, subject);
  }

  decide(
    charges: readonly Charge[],
    { mode = "commit", wantNext = false }: DecideOptions = {},
  ): Decision | Promise<Decision> {
    const batch = mergeCharges(charges);
    if (this.store.kind === "sync") return decisionOf(this.store.apply(batch, mode, wantNext));
    return this.#decideElsewhere(batch, mode, wantNext);
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

  async #decideElsewhere(
    batch: readonly Charge[],
    mode: ApplyMode,
    wantNext: boolean,
  ): Promise<Decision> {
    const guarded = this.#guarded as GuardedStore;
    try {
      return decisionOf(await guarded.apply(batch, mode, wantNext));
    } catch (thrown) {
      const error = thrown as HeadgateError;
      if (!isStoreFailure(error)) throw error;
      this.#report.add(error);
      return (this.#degraded as DegradedLimits).decide(batch, {
        mode,
        wantNext,
        retryInMs: guarded.retryInMs,
      });
    }
  }

  #charges(
    names: N | readonly N[],
    identity: Identity,
    options: CheckOptions<N> = {},
  ): readonly Charge[] {
    checkOptions("check", options, ["cost"]);
    const { cost = 1 } = options;
    if (typeof cost === "object" && cost !== null)
      for (const name of Object.keys(cost)) this.#policy(name as N);
    if (typeof names === "string") return [this.#charge(names, identity, costFor(names, cost))];
    if (!Array.isArray(names) || names.length === 0)
      throw new HeadgateError("UNKNOWN_POLICY", `check: name a policy, got ${show(names)}`);
    return names.map((name) => this.#charge(name, identity, costFor(name, cost)));
  }

  #charge(name: N, identity: Identity, cost: number): Charge {
    const policy = this.#policy(name);
    const subject = this.subjectOf(policy.by, identity);
    if (subject === undefined) {
      throw new HeadgateError(
        "INVALID_IDENTITY",
        `policy "${name}": identity must have ${JSON.stringify(policy.by)} as text that is not blank, got ${showIdentity(identity)}`,
      );
    }
    return { policy, subject, cost };
  }

  #policy(name: N): Policy {
    if (typeof name === "string" && Object.hasOwn(this.policies, name)) return this.policies[name];
    const known = Object.keys(this.policies).join(", ");
    throw new HeadgateError(
      "UNKNOWN_POLICY",
      `policy ${show(name)} is not one of this limiter's: ${known}`,
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
