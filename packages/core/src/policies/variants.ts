import { show } from "../errors.js";
import type { CallerNumbers } from "../extension.js";
import type { Policy } from "../policy/policy.js";
import { numbersFaults, withBurst } from "./rules.js";

/** The most variants of one policy that are kept at hand; more numbers than that are made afresh. */
const mostVariants = 1_000;

const variants = new WeakMap<Policy, Map<string, Policy>>();
const bases = new WeakMap<Policy, Policy>();

const numberFields: readonly string[] = ["limit", "burst", "queue"];

/**
 * The policy with other numbers. It keeps the name, so both count in one state.
 *
 * @param numbers - what an application's function gave, right or wrong
 * @returns what is wrong with numbers that no policy may have
 */
function withNumbers(policy: Policy, numbers: unknown): Policy | string {
  const record: Readonly<Record<string, unknown>> = Object(numbers);
  // Read once: what an accessor answered is both checked and used.
  const { limit, burst, queue } = record;
  const unknown = Object.keys(record).filter((field) => !numberFields.includes(field));
  const known = variants.get(policy) ?? new Map<string, Policy>();
  variants.set(policy, known);
  const name = `${show(limit)} ${show(burst)} ${show(queue)}`;
  const variant = unknown.length === 0 ? known.get(name) : undefined;
  if (variant !== undefined) return variant;
  const given = {
    ...(limit === undefined ? {} : { limit }),
    ...(burst === undefined ? {} : { burst }),
    ...(queue === undefined ? {} : { queue }),
  };
  const faults = numbersFaults(
    { ...policy },
    record === numbers
      ? { ...Object.fromEntries(unknown.map((field) => [field, record[field]])), ...given }
      : numbers,
  );
  if (faults.length > 0)
    return `cannot have these limits: ${faults.map(({ message }) => message).join("; ")}`;
  const made = Object.freeze({ ...policy, ...given, ...withBurst({ ...policy }, given) }) as Policy;
  if (known.size >= mostVariants) known.clear();
  known.set(name, made);
  bases.set(made, policy);
  return made;
}

/**
 * The policy for a caller: with numbers of the caller's own, with those of a tier, or as it is.
 *
 * @returns what is wrong with a tier that the policy does not have, or numbers that no policy may have
 */
export function variantOf(policy: Policy, { tier, numbers }: CallerNumbers): Policy | string {
  if (numbers !== undefined) return withNumbers(policy, numbers);
  const { tiers } = policy;
  if (tiers === undefined || tier === undefined) return policy;
  if (typeof tier === "string" && Object.hasOwn(tiers, tier))
    return withNumbers(policy, tiers[tier]);
  return `tier must be one of ${Object.keys(tiers).join(", ")}, got ${show(tier)}`;
}

/** The policy that a variant was made of; of any other, the policy itself. */
export function baseOf(policy: Policy): Policy {
  return bases.get(policy) ?? policy;
}
