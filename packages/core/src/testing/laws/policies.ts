import fc from "fast-check";
import type { Millis } from "../../clock.js";
import { definePolicy } from "../../policy/define.js";
import type { Policy } from "../../policy/policy.js";
import type { PolicyInput } from "../../policy/rules.js";

/** What the laws are proved for: the five algorithms, and the fixed window with its other anchor. */
export type LawSubject = Policy["algorithm"] | "fixed-window-first-request";

export const lawSubjects: readonly LawSubject[] = [
  "fixed-window",
  "fixed-window-first-request",
  "sliding-window",
  "sliding-window-counter",
  "token-bucket",
  "leaky-bucket",
];

const longestHoldMs = 2 ** 31 - 1;
const usualWindowsMs: readonly Millis[] = [100, 1_000, 3_000, 10_000, 60_000, 7, 997];

// Times that a law looks at stay exact: the longest wait is some of these, and a history some dozens.
const longestWaitMs = 2 ** 44;

/** Any policy of an algorithm: small, usual, or as large as exact arithmetic allows. */
export function anyPolicy(subject: LawSubject): fc.Arbitrary<PolicyInput> {
  const size = fc.nat({ max: 3 });
  const part = fc.nat({ max: 2 ** 30 });
  return fc.tuple(size, part, part, part).map(([size, a, b, c]) => {
    if (size === 3) return largePolicy(subject, { a, b, c });
    const small = size !== 2;
    const limit = 1 + (a % (small ? 6 : 100));
    const usualMs = usualWindowsMs[b % usualWindowsMs.length] ?? 1;
    return policyInput(subject, {
      limit,
      windowMs: small ? 1 + (b % 40) : usualMs,
      extra: c % (small ? 9 : 120),
    });
  });
}

/** The policy of an input, under a name of its own. */
export function policyNamed(name: string, input: PolicyInput): Policy {
  return definePolicy(name, input);
}

function policyInput(
  subject: LawSubject,
  { limit, windowMs, extra }: { limit: number; windowMs: Millis; extra: number },
): PolicyInput {
  switch (subject) {
    case "fixed-window-first-request":
      return { algorithm: "fixed-window", anchor: "first-request", limit, windowMs };
    case "token-bucket":
      return { algorithm: subject, limit, windowMs, burst: extra + 1 };
    case "leaky-bucket": {
      const queue = Math.min(extra, Math.floor((longestHoldMs * limit) / windowMs));
      return { algorithm: subject, limit, windowMs, queue, maxDelayMs: longestHoldMs };
    }
    default:
      return { algorithm: subject, limit, windowMs };
  }
}

/** A policy at or just below the largest numbers that construction allows. */
function largePolicy(
  subject: LawSubject,
  { a, b, c }: { a: number; b: number; c: number },
): PolicyInput {
  const windowMs = c % 3 === 0 ? 1 + (b % 9) : 2 ** (b % 43) + (b % 5);
  const below = (most: number): number => Math.max(1, most - (a % 3));
  switch (subject) {
    case "fixed-window":
    case "fixed-window-first-request":
    case "sliding-window":
      return policyInput(subject, { limit: below(2 ** 52 - 1), windowMs, extra: 0 });
    case "sliding-window-counter": {
      const most = Math.floor(Number.MAX_SAFE_INTEGER / Math.max(2, windowMs));
      return policyInput(subject, { limit: below(most), windowMs, extra: 0 });
    }
    case "token-bucket":
    case "leaky-bucket": {
      const capacity = below(Math.floor(Number.MAX_SAFE_INTEGER / (2 * windowMs)));
      const longestMs = subject === "token-bucket" ? longestWaitMs : longestHoldMs;
      const slowest = Math.ceil((capacity * windowMs) / longestMs);
      const limit = slowest + (c % 2 === 0 ? c % 9 : Math.floor(capacity / 2 ** (c % 40)));
      return policyInput(subject, { limit: Math.max(1, limit), windowMs, extra: capacity - 1 });
    }
  }
}
