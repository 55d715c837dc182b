import type { Decision } from "../decision/decision.js";
import type { Answer, Limiter } from "../limiter/limiter.js";
import type { Policy } from "../policy/policy.js";
import type { ChargeReceipt, Outcome, Store } from "../store/store.js";
import { baseOf } from "./variants.js";

const used = new WeakSet<ChargeReceipt>();
const firsts = new WeakMap<ChargeReceipt, ChargeReceipt>();
const struck = new WeakSet<ChargeReceipt>();

/** Every outcome of a decision, those of shadow policies included. */
export function allOutcomes({ outcomes, shadows }: Decision): readonly Outcome[] {
  return shadows.length === 0 ? outcomes : [...outcomes, ...shadows];
}

/**
 * What a decision charged under a limiter's policies and nobody has taken back so far; from now on it has been.
 *
 * @param isWanted - leaves out what the caller does not take back, and throws for what it cannot; then none is used
 */
export function receiptsToUse<N extends string, S extends Store>(
  limiter: Limiter<N, S>,
  decision: Decision,
  isWanted: (receipt: ChargeReceipt) => boolean = () => true,
): readonly ChargeReceipt[] {
  const receipts = allOutcomes(decision).flatMap(({ receipt }) =>
    receipt !== undefined && !used.has(receipt) && isOf(limiter, receipt) && isWanted(receipt)
      ? [receipt]
      : [],
  );
  for (const receipt of receipts) used.add(receipt);
  return receipts;
}

/** Notes that a receipt is for more of what a request has paid before: the same policy and subject. */
export function joinReceipts(later: ChargeReceipt, first: ChargeReceipt): void {
  firsts.set(later, first);
}

/**
 * Whether a request that paid what a receipt says has no strike so far under the same policy for the same subject;
 * from now on it has.
 */
export function isFirstStrike(receipt: ChargeReceipt): boolean {
  const first = firsts.get(receipt) ?? receipt;
  if (struck.has(first)) return false;
  struck.add(first);
  return true;
}

/** What a limiter asks of one of the stores that have made its charges. */
interface Work<T> {
  /** @param isMade - whether a charge under a policy was made in this store */
  readonly ask: (store: Store, isMade: (charge: OfPolicy) => boolean) => T | Promise<T>;
  /** The answers of several stores as one. */
  readonly join: (answers: readonly T[]) => T;
}

/** Asks where charges were made: in the limiter's store, or by this process itself, which counts while that one fails. */
export function askWhereMade<N extends string, S extends Store, T>(
  limiter: Limiter<N, S>,
  receipts: readonly ChargeReceipt[],
  { ask, join }: Work<T>,
): Answer<S, T> {
  const askAt = (local: boolean): Answer<S, T> =>
    limiter.ask<T>((store) => ask(store, (charge) => isLocal(limiter, charge) === local), local);
  const local = receipts.filter((receipt) => isLocal(limiter, receipt));
  if (local.length === 0) return askAt(false);
  if (local.length === receipts.length) return askAt(true);
  // Only a store that answers later can have failed between two charges of a request.
  return Promise.all([askAt(false), askAt(true)]).then(join) as Answer<S, T>;
}

/** What is charged under a policy. */
interface OfPolicy {
  readonly policy: Policy;
}

// What a request has decided may stand for several limiters, each with policies of its own.
function isOf(limiter: Pick<Limiter, "hasHad" | "safe">, receipt: ChargeReceipt): boolean {
  return isLocal(limiter, receipt) || limiter.hasHad(baseOf(receipt.policy));
}

function isLocal({ safe }: Pick<Limiter, "safe">, { policy }: OfPolicy): boolean {
  return safe?.isLocal(policy) === true;
}
