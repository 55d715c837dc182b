import type { Millis } from "../clock.js";
import { arithmeticFaults } from "../policy/arithmetic.js";
import { durationMs } from "../policy/duration.js";
import type {
  AlgorithmName,
  Counted,
  MigrationRule,
  Penalty,
  PolicyNumbers,
} from "../policy/policy.js";
import {
  choiceFaults,
  durationFaults,
  type Fault,
  fault,
  integerFaults,
  numberFaults,
  ownFields,
  type PolicyInput,
  partPattern,
  plainLimit,
} from "../policy/rules.js";

export const counted: readonly Counted[] = ["all", "failures", "successes"];

const successRules: readonly string[] = ["refund", "clear"];

export const migrationRules: readonly MigrationRule[] = ["keep", "scale", "reset"];

/** Short enough for instants to stay exact. */
export const longestBanMs: Millis = 2 ** 51;

export const penaltyTriggers: readonly Penalty["on"][] = ["refusals", "failures", "manual"];

/** What is wrong with the fields of a policy that go beyond a plain limit. */
export function extendedFaults(input: PolicyInput): readonly Fault[] {
  return [
    ...choiceFaults(input, "count", counted),
    ...choiceFaults(input, "onSuccess", successRules),
    ...choiceFaults(input, "migrate", migrationRules),
    ...choiceFaults(input, "shadow", [true, false]),
    ...integerFaults(input, "version", false),
    ...penaltyFaults(input),
    ...tierFaults(input),
  ];
}

/** Those fields as a policy holds them, defaults included. */
export function resolveExtended(input: PolicyInput): object {
  const given = Object.keys(plainLimit).filter((field) => input[field] !== undefined);
  return {
    ...Object.fromEntries(given.map((field) => [field, input[field]])),
    ...(input.penalty === undefined ? {} : { penalty: penaltyOf(input.penalty as PolicyInput) }),
    ...(input.tiers === undefined ? {} : { tiers: tiersOf(input) }),
  };
}

/** Every rule that other numbers for a policy break. */
export function numbersFaults(policy: PolicyInput, numbers: unknown): readonly Fault[] {
  if (!isRecord(numbers)) return [fault("limit", "must stand in { limit: 5 }", numbers)];
  const fields = ["limit", ...ownFields[policy.algorithm as AlgorithmName]];
  const wrong = Object.keys(numbers)
    .filter((field) => !fields.includes(field) || field === "anchor" || field === "maxDelayMs")
    .map((field) => fault(field, "is not one of the numbers that may differ", numbers[field]));
  const input = { ...policy, ...numbers, ...withBurst(policy, numbers) } as PolicyInput;
  const faults = [...wrong, ...integerFaults(numbers, "limit", true), ...numberFaults(input)];
  return faults.length > 0
    ? faults
    : arithmeticFaults(input as Parameters<typeof arithmeticFaults>[0]);
}

/** The burst of a token bucket under other numbers: a burst that is the limit stays the limit. */
export function withBurst(policy: PolicyInput, numbers: PolicyInput): Partial<PolicyNumbers> {
  if (policy.algorithm !== "token-bucket" || numbers.burst !== undefined) return {};
  const follows = policy.burst === undefined || policy.burst === policy.limit;
  return { burst: (follows ? numbers.limit : policy.burst) as number };
}

function tierFaults(input: PolicyInput): Fault[] {
  const { tiers } = input;
  // Beside a broken policy its tiers cannot be judged.
  const sound =
    input.algorithm !== undefined &&
    Object.hasOwn(ownFields, input.algorithm as string) &&
    [...durationFaults(input, "window"), ...integerFaults(input, "limit", true)].length === 0 &&
    numberFaults(input).length === 0;
  if (tiers === undefined || !sound) return [];
  if (!isRecord(tiers) || Object.keys(tiers).length === 0)
    return [fault("tiers", "must be numbers by the name of a tier", tiers)];
  return Object.entries(tiers).flatMap(([tier, numbers]) =>
    partPattern.test(tier)
      ? below(`tiers.${tier}`, numbersFaults(input, numbers))
      : [fault("tiers", "must have names of letters, digits and _", tier)],
  );
}

function penaltyFaults({ penalty }: PolicyInput): Fault[] {
  if (penalty === undefined) return [];
  if (!isRecord(penalty)) return [fault("penalty", "must be { after, within, ban }", penalty)];
  const known = ["on", "after", "within", "withinMs", "ban", "banMs"];
  const counts = penalty.on !== "manual";
  const given = (field: string): boolean => counts || `${field}Ms` in penalty || field in penalty;
  return below("penalty", [
    ...Object.keys(penalty)
      .filter((field) => !known.includes(field))
      .map((field) => fault(field, "is not an option of a penalty", penalty[field])),
    ...choiceFaults(penalty, "on", penaltyTriggers),
    ...integerFaults(penalty, "after", counts),
    ...(given("within") ? timeFaults(penalty, "within") : []),
    ...(given("ban") ? timeFaults(penalty, "ban") : []),
  ]);
}

function timeFaults(penalty: PolicyInput, field: "within" | "ban"): Fault[] {
  const faults = durationFaults(penalty, field);
  const path = penalty[field] === undefined ? `${field}Ms` : field;
  const ms = durationMs(penalty[path]) as Millis;
  if (faults.length > 0 || ms <= longestBanMs) return faults;
  const rule = `is too large for exact arithmetic (at most ${longestBanMs})`;
  return [{ path, message: `${path} ${rule}, got ${ms}` }];
}

function below(above: string, faults: readonly Fault[]): Fault[] {
  return faults.map(({ path, message }) => ({
    path: `${above}.${path}`,
    message: `${above}.${message}`,
  }));
}

function penaltyOf(penalty: PolicyInput): Penalty {
  const { on = "refusals", after = 1, within, withinMs = 1, ban, banMs = 1 } = penalty;
  return Object.freeze({
    on,
    after,
    withinMs: durationMs(within ?? withinMs),
    banMs: durationMs(ban ?? banMs),
  }) as Penalty;
}

function tiersOf(input: PolicyInput): Readonly<Record<string, PolicyNumbers>> {
  const tiers = Object.entries(input.tiers as Record<string, PolicyNumbers>).map(
    ([tier, numbers]) => [tier, Object.freeze({ ...numbers, ...withBurst(input, { ...numbers }) })],
  );
  return Object.freeze(Object.fromEntries(tiers));
}

function isRecord(value: unknown): value is PolicyInput {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
