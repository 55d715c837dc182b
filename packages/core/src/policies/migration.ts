import type { AlgorithmTable } from "../algorithms/index.js";
import type { Millis } from "../clock.js";
import { capacityOf } from "../policy/capacity.js";
import type { MigrationRule, Policy } from "../policy/policy.js";
import { enlarged } from "./debt.js";

const largest = Number.MAX_SAFE_INTEGER;

/** A state and the policy that it was written under. */
export interface Held {
  readonly policy: Policy;
  readonly state: unknown;
}

/** Whether a state of one policy is one of the other as it is, whatever their limit, burst and queue. */
export function sameForm(a: Policy, b: Policy): boolean {
  return a.algorithm === b.algorithm && a.windowMs === b.windowMs && a.version === b.version;
}

/** The declared rule is for states that no such version has written yet; any other difference is bridged by `keep`. */
export function ruleFor({ version, migrate }: Policy, highest: number): MigrationRule {
  return highest < version ? migrate : "keep";
}

/** The state that a policy goes on with where it finds a live one of another form; undefined for an untouched one. */
export function migrated(
  algorithms: AlgorithmTable,
  { policy: old, state }: Held,
  { policy, rule, now }: { policy: Policy; rule: MigrationRule; now: Millis },
): unknown {
  const from = algorithms[old.algorithm];
  const to = algorithms[policy.algorithm];
  if (rule === "reset") return undefined;
  const kept = from === to && old.windowMs === policy.windowMs && rule === "keep";
  const queue = from === to && policy.algorithm === "leaky-bucket";
  if (kept && !(queue && old.limit !== policy.limit)) return state;
  const fresh = to.create(policy);
  // An earlier clock is taken for the instant that the state holds, or it would be granted more later.
  const at = Math.max(now, heldInstant(old, state));
  if (queue) {
    // The next free slot keeps its instant.
    const { resetMs } = from.measure(old, state, at, 0);
    fresh.units = Math.min(resetMs * policy.limit, mostUsed(policy) * policy.windowMs);
    fresh.atMs = at;
    return fresh;
  }
  // More than the old capacity where a larger one has been used: it must not come back with each version's turn.
  const roomy = enlarged(old, spare(old));
  const used = capacityOf(roomy) - from.measure(roomy, state, at, 0).remaining;
  const units = rule === "scale" ? scaled(used, capacityOf(policy), capacityOf(old)) : used;
  if (units === 0) return undefined;
  to.spend(policy, fresh, at, Math.min(units, mostUsed(policy)));
  return fresh;
}

/** The instant before which a live state cannot be asked. */
function heldInstant({ algorithm, windowMs }: Policy, state: unknown): Millis {
  const of = state as Readonly<Record<"startMs" | "newest" | "index" | "atMs", number>>;
  switch (algorithm) {
    case "fixed-window":
      return of.startMs;
    case "sliding-window":
      return of.newest;
    case "sliding-window-counter":
      return of.index * windowMs;
    case "token-bucket":
    case "leaky-bucket":
      return of.atMs;
  }
}

/** `ceil(used * to / from)`, exactly where the product would not be: the part below `from` bit by bit. */
function scaled(used: number, to: number, from: number): number {
  const part = used % from;
  const whole = Math.floor(used / from) * to;
  let [quotient, rest] = [0, 0];
  for (let bit = 2 ** 52; bit >= 1; bit /= 2) {
    quotient *= 2;
    rest *= 2;
    if (rest >= from) {
      quotient += 1;
      rest -= from;
    }
    if (Math.floor(to / bit) % 2 === 1) {
      rest += part;
      if (rest >= from) {
        quotient += 1;
        rest -= from;
      }
    }
  }
  return whole + (rest > 0 ? quotient + 1 : quotient);
}

/** What a state may hold at most, so that a call on top of it is still exact. */
function mostUsed(policy: Policy): number {
  const counter = policy.algorithm === "sliding-window-counter";
  return counter ? Math.floor(largest / policy.windowMs) : spare(policy);
}

/**
 * Kept free below the largest integer, 278 years of ms: an earlier clock makes waits longer, and some clients of
 * Redis misread the last integers.
 */
const margin = 2 ** 43;

/** How much larger the capacity could be. */
function spare(policy: Policy): number {
  const bucket = policy.algorithm === "token-bucket" || policy.algorithm === "leaky-bucket";
  const unit = bucket ? policy.windowMs : 1;
  return Math.floor((largest - Math.max(capacityOf(policy) * unit, margin)) / unit);
}
