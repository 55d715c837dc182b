import * as decision from "./decision-laws.js";
import { anyHistory } from "./history.js";
import { type Law, lawOf } from "./law.js";
import type { LawSubject } from "./policies.js";
import * as refund from "./refund-laws.js";
import * as state from "./state-laws.js";

/** Not where a charge also opens a window, or where time gives back what is owed. */
const countedOneByOne: readonly LawSubject[] = [
  "fixed-window",
  "sliding-window",
  "sliding-window-counter",
];

/** The thirteen laws that every store obeys under every algorithm, to be run one by one. */
export function lawsOf(subject: LawSubject): readonly Law[] {
  const histories = anyHistory(subject);
  return [
    lawOf("refusal is free", histories, decision.refusalIsFree),
    lawOf("honest wait", histories, decision.honestWait),
    lawOf("honest remaining", histories, decision.honestRemaining),
    lawOf("honest reset", histories, decision.honestReset),
    lawOf("never is never", histories, decision.neverIsNever),
    lawOf("monotone", histories, decision.monotone),
    lawOf("additive", histories, decision.additive),
    lawOf("peek", histories, state.peekChangesNothing),
    lawOf("forgettable", histories, state.forgettable),
    lawOf("isolated", histories, state.isolated),
    lawOf("clock steps", histories, state.clockSteps),
    lawOf("same everywhere", histories, state.sameEverywhere),
    lawOf("snapshots", histories, state.snapshots),
  ];
}

/** What a refund may do under an algorithm. */
export function refundLawsOf(subject: LawSubject): readonly Law[] {
  const histories = anyHistory(subject);
  const laws = [
    lawOf("a refund at once undoes the charge", histories, refund.refundUndoes),
    lawOf("a part given back is a smaller charge", histories, refund.partRefund),
    lawOf("a refund gives back no more than was taken", histories, refund.refundIsBounded),
    lawOf("a refund in time gives back exactly its due", histories, refund.exactRefund),
    lawOf("a refund never recreates a key", histories, refund.refundCreatesNothing),
    lawOf("a late refund changes nothing", histories, refund.lateRefund),
  ];
  if (!countedOneByOne.includes(subject)) return laws;
  const earlier = "refunding an earlier charge takes out that one";
  return [...laws, lawOf(earlier, histories, refund.earlierRefund)];
}
