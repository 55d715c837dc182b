import type { Millis } from "../clock.js";
import { HeadgateError, invalidOption } from "../errors.js";
import type { Identity } from "../identity/subject.js";
import type { Answer, Limiter } from "../limiter/limiter.js";
import type { Policy } from "../policy/policy.js";
import type { Ban, Charge, Outcome, Store } from "../store/store.js";
import { longestBanMs } from "./rules.js";

/**
 * Bans an identity under one policy from now on, whatever it has left.
 *
 * @throws HeadgateError `INVALID_OPTION` when the policy has no `penalty`, so that nobody would look for the ban
 */
export function ban<N extends string, S extends Store>(
  limiter: Limiter<N, S>,
  name: N,
  { identity, forMs }: { readonly identity: Identity; readonly forMs: Millis },
): Answer<S, void> {
  if (!(Number.isSafeInteger(forMs) && forMs >= 1 && forMs <= longestBanMs))
    throw invalidOption("ban", `forMs must be an integer from 1 to ${longestBanMs}`, forMs);
  return setBan(limiter, limiter.chargeOf(name, identity), forMs);
}

/** Ends a ban of an identity under one policy, and forgets what led to it. */
export function unban<N extends string, S extends Store>(
  limiter: Limiter<N, S>,
  name: N,
  identity: Identity,
): Answer<S, void> {
  return setBan(limiter, limiter.chargeOf(name, identity), 0);
}

/**
 * Bans that have not ended, in no order.
 *
 * @param most - how many to tell at most
 */
export function bans<N extends string, S extends Store>(
  limiter: Limiter<N, S>,
  most = 100,
): Answer<S, readonly Ban[]> {
  if (!(Number.isSafeInteger(most) && most >= 1))
    throw invalidOption("bans", "most must be a positive integer", most);
  const policies = Object.values<Policy>(limiter.policies).filter(
    ({ penalty }) => penalty !== undefined,
  );
  return limiter.ask<readonly Ban[]>((store) => store.bans.list(policies, most));
}

/**
 * What every policy whose key the identity has would answer to a request, without counting anything.
 *
 * @returns an outcome for each of them, in the order in which the policies were declared
 */
export function peekAll<N extends string, S extends Store>(
  limiter: Limiter<N, S>,
  identity: Identity,
): Answer<S, readonly Outcome[]> {
  const charges: Charge[] = Object.values<Policy>(limiter.policies).flatMap((policy) => {
    const subject = limiter.subjectOf(policy.by, identity);
    return subject === undefined ? [] : [{ policy, subject, cost: 1 }];
  });
  return limiter.ask<readonly Outcome[]>((store) =>
    charges.length === 0 ? [] : store.apply(charges, "peek"),
  );
}

function setBan<N extends string, S extends Store>(
  limiter: Limiter<N, S>,
  { policy, subject }: Charge,
  forMs: Millis,
): Answer<S, void> {
  if (policy.penalty === undefined) {
    const rule = 'must have a penalty, such as { on: "manual" }, for bans to be looked for';
    throw new HeadgateError("INVALID_OPTION", `ban: policy "${policy.name}" ${rule}`);
  }
  return limiter.ask<void>((store) => store.bans.set(policy, subject, forMs));
}
