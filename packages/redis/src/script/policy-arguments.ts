import type { Policy } from "@headgate/core";

/** A policy as the script takes it: the tag of its algorithm, limit, window and the algorithm's own number. */
type PolicyArguments = readonly [tag: string, limit: string, windowMs: string, extra: string];

const argumentsOf = new WeakMap<Policy, PolicyArguments>();

/** The script's arguments for a policy. */
export function policyArguments(policy: Policy): PolicyArguments {
  let known = argumentsOf.get(policy);
  if (known === undefined) {
    const [tag, extra] = tagAndExtra(policy);
    known = [tag, String(policy.limit), String(policy.windowMs), String(extra)];
    argumentsOf.set(policy, known);
  }
  return known;
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
