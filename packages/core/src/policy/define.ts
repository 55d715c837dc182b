import { HeadgateError, show } from "../errors.js";
import { extension } from "../extension.js";
import { defaultMaxDelayMs } from "./arithmetic.js";
import { durationMs } from "./duration.js";
import type { AlgorithmName, KeyBy, KeyParts, Policy, PolicyDefinition } from "./policy.js";
import { type PolicyInput, plainLimit, policyFaults } from "./rules.js";

/**
 * Checks a policy given as data, resolves its defaults, and freezes it.
 *
 * @throws HeadgateError `INVALID_POLICY` naming the policy and every broken rule with its value.
 */
export function definePolicy(name: string, input: PolicyInput | PolicyDefinition): Policy {
  // A missing name must not pass as one that is still to come.
  const named = { ...input, name: name ?? null };
  check(named);
  return resolve(named) as Policy;
}

/** The same for a policy whose name is still to come (or stands in the input). */
export function defineUnnamed(input: PolicyInput): PolicyDefinition {
  check(input);
  return resolve(input);
}

function check(input: PolicyInput): void {
  const faults = policyFaults(input);
  if (faults.length === 0) return;
  const { name, algorithm } = input;
  const subject = name === undefined ? `${algorithm} policy` : `policy ${show(name)}`;
  throw new HeadgateError(
    "INVALID_POLICY",
    `${subject}: ${faults.map(({ message }) => message).join("; ")}`,
  );
}

function resolve(input: PolicyInput): PolicyDefinition {
  const limit = input.limit as number;
  const fields = {
    ...(input.name === undefined ? {} : { name: input.name }),
    algorithm: input.algorithm,
    limit,
    windowMs: durationMs(input.window ?? input.windowMs),
    by: frozenKey((input.by as KeyBy | undefined) ?? "ip"),
    onStoreFailure: input.onStoreFailure ?? "local",
    localShare: input.localShare ?? 1,
    ...plainLimit,
    ...extension()?.resolve(input),
    ...ownDefaults(input, limit),
  };
  return Object.freeze(fields) as unknown as PolicyDefinition;
}

function ownDefaults(input: PolicyInput, limit: number): object {
  switch (input.algorithm as AlgorithmName) {
    case "fixed-window":
      return { anchor: input.anchor ?? "clock" };
    case "token-bucket":
      return { burst: input.burst ?? limit };
    case "leaky-bucket":
      return { queue: input.queue, maxDelayMs: input.maxDelayMs ?? defaultMaxDelayMs };
    case "sliding-window":
    case "sliding-window-counter":
      return {};
  }
}

function frozenKey(by: KeyBy): KeyBy {
  if (typeof by === "string") return by;
  if ("firstOf" in by)
    return Object.freeze({ firstOf: Object.freeze(by.firstOf.map(frozenParts)) });
  return frozenParts(by);
}

function frozenParts(parts: KeyParts): KeyParts {
  return typeof parts === "string" ? parts : Object.freeze([...parts]);
}
