import { type Clock, checkClock, type Millis, systemClock } from "../clock.js";
import { checkOptions, type HeadgateError, invalidOption } from "../errors.js";
import { definePolicy } from "../policy/define.js";
import type { Policy, PolicyDefinition } from "../policy/policy.js";
import { partPattern } from "../policy/rules.js";
import { memoryStore } from "../store/memory/memory-store.js";
import type { Store } from "../store/store.js";
import { warnOnce } from "../warnings.js";
import { whyNotAlone } from "./deployment.js";

const caller = "createLimiter";
const longestTimerMs = 2 ** 31 - 1;

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

/** Options that have been checked, with the defaults filled in. */
interface ResolvedOptions<N extends string> {
  readonly policies: Readonly<Record<N, Policy>>;
  readonly store: Store;
  readonly clock: Clock;
  readonly deadlineMs: Millis;
  readonly secretParts: ReadonlySet<string> | undefined;
  readonly onStoreError: ((error: HeadgateError) => void) | undefined;
}

/** @throws HeadgateError `INVALID_POLICY` or `INVALID_OPTION` */
export function resolveOptions<N extends string>(
  options: LimiterOptions<N, Store>,
): ResolvedOptions<N> {
  checkOptions(caller, options, [
    "policies",
    "store",
    "clock",
    "deadlineMs",
    "secretParts",
    "onStoreError",
  ]);
  const { policies, store, clock = systemClock, deadlineMs = 200, secretParts } = options;
  checkClock(caller, clock);
  if (!(Number.isInteger(deadlineMs) && deadlineMs >= 1 && deadlineMs <= longestTimerMs)) {
    const rule = `deadlineMs must be an integer from 1 to ${longestTimerMs}`;
    throw invalidOption(caller, rule, deadlineMs);
  }
  if (!["function", "undefined"].includes(typeof options.onStoreError))
    throw invalidOption(caller, "onStoreError must be a function", options.onStoreError);
  return {
    policies: namedPolicies(policies),
    store: checkedStore(store) ?? defaultStore(clock),
    clock,
    deadlineMs,
    secretParts: secretParts === undefined ? undefined : new Set(checkedParts(secretParts)),
    onStoreError: options.onStoreError,
  };
}

/** @throws HeadgateError `INVALID_POLICY` or `INVALID_OPTION` */
export function namedPolicies<N extends string>(
  definitions: Readonly<Record<N, PolicyDefinition>>,
): Readonly<Record<N, Policy>> {
  const isRecord = typeof definitions === "object" && definitions !== null;
  if (!isRecord || Object.keys(definitions).length === 0) {
    const rule = "policies must be an object with at least one policy";
    throw invalidOption(caller, rule, definitions);
  }
  const policies: Record<string, Policy> = {};
  for (const [name, definition] of Object.entries<PolicyDefinition>(definitions))
    policies[name] = definePolicy(name, definition);
  return policies as Record<N, Policy>;
}

function checkedStore(store: Store | undefined): Store | undefined {
  const { kind, failsafe }: { kind?: unknown; failsafe?: unknown } = Object(store);
  const isStore = kind === "sync" || (kind === "async" && typeof failsafe === "function");
  if (store === undefined || isStore) return store;
  const rule = "store must be a store, such as memoryStore()";
  throw invalidOption(caller, rule, store);
}

function checkedParts(parts: readonly string[]): readonly string[] {
  const isPart = (part: unknown): boolean => typeof part === "string" && partPattern.test(part);
  if (Array.isArray(parts) && [...parts].every(isPart)) return parts;
  throw invalidOption(caller, "secretParts must be a list of identity parts", parts);
}

function defaultStore(clock: Clock): Store {
  const reason = whyNotAlone();
  if (reason !== undefined) {
    warnOnce(
      "HEADGATE_MEMORY_STORE",
      `the default store counts in one process, and ${reason}: each process grants the limit. Share a Redis store, or pass memoryStore() if that is meant.`,
    );
  }
  return memoryStore({ clock });
}
