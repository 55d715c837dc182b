import type { CallerNumbers } from "../extension.js";
import type { Policy, PolicyNumbers } from "../policy/policy.js";
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
 * @returns undefined for numbers that no policy may have
 */
function withNumbers(policy: Policy, numbers: unknown): Policy | undefined {
  const record: Partial<Record<keyof PolicyNumbers, unknown>> = Object(numbers);
  if (!Object.keys(record).every((field) => numberFields.includes(field))) return undefined;
  // Read once: what an accessor answered is both checked and used.
  const { limit, burst, queue } = record;
  if (
    ![limit, burst, queue].every((number) => number === undefined || Number.isSafeInteger(number))
  )
    return undefined;
  const known = variants.get(policy) ?? new Map<string, Policy>();
  variants.set(policy, known);
  const name = `${limit} ${burst} ${queue}`;
  const variant = known.get(name);
  if (variant !== undefined) return variant;
  const given = {
    limit,
    ...(burst === undefined ? {} : { burst }),
    ...(queue === undefined ? {} : { queue }),
  } as PolicyNumbers;
  if (numbersFaults({ ...policy }, given).length > 0) return undefined;
  const made = Object.freeze({ ...policy, ...given, ...withBurst({ ...policy }, { ...given }) });
  if (known.size >= mostVariants) known.clear();
  known.set(name, made);
  bases.set(made, policy);
  return made;
}

/**
 * The policy for a caller: with numbers of the caller's own, with those of a tier, or as it is.
 *
 * @returns undefined for a tier that the policy does not have, or numbers that no policy may have
 */
export function variantOf(policy: Policy, { tier, numbers }: CallerNumbers): Policy | undefined {
  if (numbers !== undefined) return withNumbers(policy, numbers);
  const { tiers } = policy;
  if (tiers === undefined || tier === undefined) return policy;
  const has = typeof tier === "string" && Object.hasOwn(tiers, tier);
  return has ? withNumbers(policy, tiers[tier]) : undefined;
}

/** The policy that a variant was made of; of any other, the policy itself. */
export function baseOf(policy: Policy): Policy {
  return bases.get(policy) ?? policy;
}
