import { type AlgorithmName, definePolicy, type Millis, type Policy } from "@headgate/core";

/** One policy to be tried, by itself. */
export interface Plan {
  readonly label: string;
  readonly policy: Policy;
  /** The policy of the file that this one differs from, and in what. */
  readonly variant?: { readonly of: string; readonly differs: "limit" | "algorithm" };
}

/** The five algorithms, in the order in which the documentation treats them. */
export const algorithms: readonly AlgorithmName[] = [
  "fixed-window",
  "sliding-window",
  "sliding-window-counter",
  "token-bucket",
  "leaky-bucket",
];

/** A policy of a file as it is tried: a shadow is decided as if it were enforced. */
export function planOf(policy: Policy): Plan {
  return { label: policy.name, policy: enforced(policy) };
}

/** The same policy under other limits, the burst of a token bucket in step where it was the limit. */
export function limitPlans(policy: Policy, limits: readonly number[]): readonly Plan[] {
  return limits
    .filter((limit) => limit !== policy.limit)
    .map((limit) => ({
      label: `${policy.name} at ${limit}`,
      policy: withLimit(policy, limit),
      variant: { of: policy.name, differs: "limit" },
    }));
}

/** The same numbers under the other algorithms. */
export function algorithmPlans(policy: Policy): readonly Plan[] {
  return algorithms
    .filter((algorithm) => algorithm !== policy.algorithm)
    .map((algorithm) => ({
      label: `${policy.name} as ${algorithm}`,
      policy: underAlgorithm(policy, algorithm),
      variant: { of: policy.name, differs: "algorithm" },
    }));
}

/** Limits around that of a policy, from a quarter to eight times of it, as far as its queue allows. */
export function limitsAround(policy: Policy): readonly number[] {
  const factors = [0.25, 0.5, 0.75, 1, 1.5, 2, 4, 8];
  const least =
    policy.algorithm === "leaky-bucket"
      ? Math.ceil((policy.queue * policy.windowMs) / longestHoldMs)
      : 1;
  const limits = factors.map((factor) => Math.max(1, Math.round(policy.limit * factor)));
  return [...new Set(limits)].filter((limit) => limit >= least);
}

/**
 * A policy of an algorithm with a limit: its own numbers such that it has room for `limit` requests at once, as the
 * others have.
 */
export function plainPolicy(
  name: string,
  {
    algorithm,
    ...numbers
  }: {
    readonly algorithm: AlgorithmName;
    readonly limit: number;
    readonly windowMs: Millis;
    readonly by: Policy["by"];
  },
): Policy {
  return definePolicy(name, { algorithm, ...numbers, ...ownNumbers(algorithm, numbers) });
}

function enforced(policy: Policy): Policy {
  return policy.shadow ? definePolicy(policy.name, { ...policy, shadow: false }) : policy;
}

function withLimit(policy: Policy, limit: number): Policy {
  const input = { ...policy, ...inStep(policy, limit), limit, shadow: false };
  return definePolicy(policy.name, input);
}

/** What follows a limit: a burst that is the limit, and the hold that a queue may ask for. */
function inStep(policy: Policy, limit: number): object {
  if (policy.algorithm === "token-bucket" && policy.burst === policy.limit) return { burst: limit };
  if (policy.algorithm !== "leaky-bucket") return {};
  const { queue, windowMs, maxDelayMs } = policy;
  return { maxDelayMs: Math.max(maxDelayMs, Math.ceil((queue * windowMs) / limit)) };
}

function underAlgorithm(policy: Policy, algorithm: AlgorithmName): Policy {
  const { limit, windowMs, by, count, onSuccess, penalty } = policy;
  const own = ownNumbers(algorithm, { limit, windowMs });
  const input = { algorithm, limit, windowMs, by, count, onSuccess, penalty, ...own };
  return definePolicy(policy.name, input);
}

const longestHoldMs = 2 ** 31 - 1;

/** A queue for as many as the limit at once, unless the last of them would wait longer than a timer can. */
function ownNumbers(
  algorithm: AlgorithmName,
  { limit, windowMs }: { readonly limit: number; readonly windowMs: Millis },
): object {
  if (algorithm !== "leaky-bucket") return {};
  const queue = Math.min(limit - 1, Math.floor((longestHoldMs * limit) / windowMs));
  return { queue, maxDelayMs: Math.ceil((queue * windowMs) / limit) };
}
