import type { Millis, Policy } from "@headgate/core";

const argumentsOf = new WeakMap<Policy, readonly string[]>();

/**
 * The script's arguments for a policy: the tag of its algorithm, limit, window (as states tell it, and in ms) and
 * the algorithm's own number. A capital tag says that more follows, for what goes beyond a plain limit.
 */
export function policyArguments(policy: Policy): readonly string[] {
  let known = argumentsOf.get(policy);
  if (known === undefined) {
    const [tag, extra] = tagAndExtra(policy);
    const rest = restOf(policy);
    const letter = rest.length === 0 ? tag : tag.toUpperCase();
    const { limit, windowMs } = policy;
    known = [letter, String(limit), windowText(windowMs), String(windowMs), String(extra), ...rest];
    argumentsOf.set(policy, known);
  }
  return known;
}

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
] as const;

/** States tell their window, and short ones take less memory: "1h", or ms where no whole unit fits. */
function windowText(windowMs: Millis): string {
  const unit = units.find(([, unitMs]) => windowMs % unitMs === 0);
  return unit === undefined ? String(windowMs) : `${windowMs / unit[1]}${unit[0]}`;
}

function tagAndExtra(policy: Policy): [tag: string, extra: number] {
  switch (policy.algorithm) {
    case "fixed-window":
      return ["f", policy.anchor === "first-request" ? 1 : 0];
    case "sliding-window":
      return ["w", 0];
    case "sliding-window-counter":
      return ["c", 0];
    case "token-bucket":
      return ["t", policy.burst];
    case "leaky-bucket":
      return ["l", policy.queue];
  }
}

function restOf({ version, migrate, debt, shadow, penalty }: Policy): readonly string[] {
  if (version === 1 && debt === 0 && !shadow && penalty === undefined) return [];
  const counted =
    penalty === undefined
      ? ["-"]
      : [penalty.on.charAt(0), penalty.after, penalty.withinMs, penalty.banMs];
  return [version, migrate.charAt(0), debt, shadow ? 1 : 0, ...counted].map(String);
}
