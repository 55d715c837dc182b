import type { Millis } from "../clock.js";
import { type Decision, type Degraded, decisionOf, reportedOutcome } from "../decision/decision.js";
import { joinReceipts } from "../policies/receipts.js";
import type { Charge, ChargeReceipt, Outcome, Store } from "../store/store.js";
import type { Report } from "./fields.js";

interface Charged {
  readonly store: Store;
  readonly charge: Charge;
  readonly receipt: ChargeReceipt | undefined;
  /** What the fields have not told of it so far: an outcome of a limiter that keeps its numbers to itself. */
  hidden: Outcome | undefined;
}

/** One limiter's decision on a request. */
export interface Decided {
  readonly store: Store;
  /** What the decision charged. */
  readonly charges: readonly Charge[];
  readonly decision: Decision;
  /** The wall clock when it was made. */
  readonly nowMs: Millis;
  /** Whether the limiter tells its numbers to the client; those of the others never show in its fields. */
  readonly shown: boolean;
}

/**
 * What all limiters of one request have decided so far. With it a policy and subject is charged at most
 * once however often it is mounted, and an inner limiter's looser numbers do not hide an outer one's.
 */
export class RequestRecord {
  readonly #charged: Charged[] = [];
  readonly #made: { readonly outcomes: readonly Outcome[]; readonly nowMs: Millis }[] = [];
  #decision: Decision | undefined;
  #shown: Decision | undefined;

  /** The decision over all limiters so far. */
  get decision(): Decision | undefined {
    return this.#decision;
  }

  /** The charges without what the request has already paid for; the same list when it has paid nothing. */
  unpaidOf(store: Store, charges: readonly Charge[]): readonly Charge[] {
    if (this.#charged.length === 0) return charges;
    return charges
      .map((charge) => this.unpaid(store, charge))
      .filter((charge) => charge !== undefined);
  }

  /** A charge without what the request has already paid for the same policy and subject; undefined when nothing is left. */
  unpaid(store: Store, charge: Charge): Charge | undefined {
    const { policy, subject, cost } = charge;
    const paid = this.#paidFor(store, charge);
    if (paid === undefined) return charge;
    return cost > paid ? { policy, subject, cost: cost - paid } : undefined;
  }

  /** What the request has asked for so far under the enforced policies of some charges: each at its dearest. */
  dearestOf(store: Store, charges: readonly Charge[]): readonly Charge[] {
    return charges
      .filter(({ policy }) => !policy.shadow)
      .map((charge) => ({
        ...charge,
        cost: Math.max(charge.cost, this.#paidFor(store, charge) ?? 0),
      }));
  }

  /** What the request has paid for the policy and subject of a charge; undefined when it has not met them. */
  #paidFor(store: Store, charge: Charge): number | undefined {
    const earlier = this.#charged.filter((made) => isFor(made, store, charge));
    if (earlier.length === 0) return undefined;
    return earlier.reduce((sum, made) => sum + made.charge.cost, 0);
  }

  /** Takes note of a decision, and gives the one that the fields of the response now tell. */
  add({ store, charges, decision, nowMs, shown }: Decided): Decision {
    if (decision.allowed) {
      for (const charge of charges) {
        const { shadow } = charge.policy;
        const met = outcomeOf(charge, decision);
        const receipt = met?.receipt;
        const first = this.#charged.find((made) => made.receipt && isFor(made, store, charge));
        if (receipt && first?.receipt) joinReceipts(receipt, first.receipt);
        this.#charged.push({
          store,
          charge: shadow && met?.allowed === false ? { ...charge, cost: anyCost } : charge,
          receipt,
          hidden: shown || shadow ? undefined : met,
        });
      }
    }
    this.#made.push({ outcomes: decision.outcomes, nowMs });
    this.#decision = merged(this.#decision, decision);
    if (!shown) return decision;
    this.#shown = merged(this.#shown, decision);
    return this.#shown;
  }

  /** Gives the decision that the fields tell, once they may also tell what these charges met under an earlier limiter. */
  reveal(store: Store, charges: readonly Charge[]): Decision | undefined {
    for (const made of this.#charged) {
      const { hidden } = made;
      if (hidden === undefined || !charges.some((charge) => isFor(made, store, charge))) continue;
      made.hidden = undefined;
      this.#shown = merged(this.#shown, decisionOf([hidden]));
    }
    return this.#shown;
  }

  /** What the fields of the response tell: times counted from `nowMs`, though an outer limiter decided earlier. */
  report(decision: Decision, nowMs: Millis): Report {
    const { limit, remaining, resetMs, outcomes } = decision;
    if (resetMs === undefined) return { limit, remaining, resetMs };
    const reported = reportedOutcome(outcomes);
    const made = this.#made.find((one) => one.outcomes.includes(reported));
    const decidedAt = made?.nowMs ?? nowMs;
    return { limit, remaining, resetMs: Math.max(0, decidedAt + resetMs - nowMs) };
  }
}

/** A shadow's refusal needs no second look: what it would have refused, it refuses at any higher cost. */
const anyCost = Number.MAX_SAFE_INTEGER;

/** What a charge met. */
function outcomeOf({ policy }: Charge, { outcomes, shadows }: Decision): Outcome | undefined {
  const among = policy.shadow ? shadows : outcomes;
  return among.find((outcome) => outcome.policy.name === policy.name);
}

/** Whether a charge that was made is for the policy and subject of another. One name is one policy on a store. */
function isFor(made: Charged, store: Store, { policy, subject }: Charge): boolean {
  const { charge } = made;
  return made.store === store && charge.policy.name === policy.name && charge.subject === subject;
}

/** Whether a decision is one of shadow policies alone, which has nothing to tell the client. */
export function isSilent({ outcomes, policy }: Decision): boolean {
  return outcomes.length === 0 && policy.shadow;
}

const severity: readonly Degraded[] = ["none", "local", "open", "closed"];

function merged(earlier: Decision | undefined, decision: Decision): Decision {
  if (earlier === undefined || decision.degraded === "closed") return decision;
  const both = {
    degraded: worse(earlier.degraded, decision.degraded),
    shadows: [...earlier.shadows, ...decision.shadows],
  };
  if (isSilent(earlier)) return { ...decision, ...both };
  if (decision.outcomes.length === 0) return { ...earlier, ...both };
  if (earlier.outcomes.length === 0) return { ...decision, ...both };
  const outcomes = [...earlier.outcomes, ...decision.outcomes];
  return { ...decisionOf(outcomes), ...both, delayMs: decision.delayMs };
}

function worse(a: Degraded, b: Degraded): Degraded {
  return severity.indexOf(a) > severity.indexOf(b) ? a : b;
}

// A registered symbol, so that copies of this package in one process share the record.
const recordKey = Symbol.for("headgate.record");

/** The record of a request, kept on the request itself. */
export function recordOf(request: object): RequestRecord {
  const owner = request as { [recordKey]?: RequestRecord };
  owner[recordKey] ??= new RequestRecord();
  return owner[recordKey];
}
