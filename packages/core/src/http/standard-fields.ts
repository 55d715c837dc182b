import type { Policy } from "../policy/policy.js";
import type { Outcome } from "../store/store.js";
import { digits, type Field } from "./fields.js";

/** The revisions of the IETF draft whose fields can be sent. `draft-11` is the wire form of revisions 08 to 11. */
export type StandardHeaders = "draft-11";

/**
 * `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers), a member for each policy in
 * declared order. Of two policies with one name the tighter one stands.
 *
 * @param retrySeconds - what Retry-After says, which no refusing policy's `t` exceeds
 */
export function standardFields(
  outcomes: readonly Outcome[],
  retrySeconds: number | undefined,
): readonly Field[] {
  const byName = new Map<string, Outcome>();
  for (const outcome of outcomes) {
    const other = byName.get(outcome.policy.name);
    if (other === undefined || outcome.remaining < other.remaining)
      byName.set(outcome.policy.name, outcome);
  }
  const members = [...byName.values()];
  if (members.length === 0) return [];
  return [
    [
      "RateLimit-Policy",
      members
        .map(
          ({ policy, limit }) =>
            `"${policy.name}";q=${digits(limit)};w=${digits(windowSeconds(policy))}`,
        )
        .join(", "),
    ],
    [
      "RateLimit",
      members
        .map(
          (outcome) =>
            `"${outcome.policy.name}";r=${digits(outcome.remaining)}${timeUntilMore(outcome, retrySeconds)}`,
        )
        .join(", "),
    ],
  ];
}

/** The time in which the quota is given out: the window, or from empty to full for the buckets. Rounded up: never a faster rate than the true one. */
function windowSeconds(policy: Policy): number {
  const { windowMs, limit } = policy;
  const spanMs =
    policy.algorithm === "token-bucket"
      ? (policy.burst * windowMs) / limit
      : policy.algorithm === "leaky-bucket"
        ? ((policy.queue + 1) * windowMs) / limit
        : windowMs;
  return Math.max(1, Math.ceil(Math.ceil(spanMs) / 1000));
}

function timeUntilMore({ allowed, nextMs }: Outcome, retrySeconds: number | undefined): string {
  if (nextMs === undefined) return "";
  const seconds = Math.max(1, Math.ceil(nextMs / 1000));
  return `;t=${digits(allowed || retrySeconds === undefined ? seconds : Math.min(seconds, retrySeconds))}`;
}
