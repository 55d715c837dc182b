import { definePolicy } from "../../src/policy/define.js";
import type { Policy } from "../../src/policy/policy.js";
import type { MemoryStore } from "../../src/store/memory/memory-store.js";
import type { Outcome } from "../../src/store/store.js";

export const algorithmNames = [
  "fixed-window",
  "sliding-window",
  "sliding-window-counter",
  "token-bucket",
  "leaky-bucket",
] as const;

/** A policy of any algorithm with the capacity `limit`. */
export function policyOf(
  algorithm: (typeof algorithmNames)[number],
  { name = "api", limit = 2, windowMs = 60_000 } = {},
): Policy {
  const queue = algorithm === "leaky-bucket" ? { queue: limit - 1, maxDelayMs: 2 ** 31 - 1 } : {};
  return definePolicy(name, { algorithm, limit, windowMs, ...queue });
}

/** One call on one key. */
export function call(
  store: MemoryStore,
  policy: Policy,
  {
    subject,
    cost = 1,
    mode = "commit" as const,
  }: { subject: string; cost?: number; mode?: "commit" | "peek" },
): Outcome {
  return store.apply([{ policy, subject, cost }], mode)[0] as Outcome;
}
