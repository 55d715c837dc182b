import type { ChargeReceipt, Outcome } from "@headgate/core";
import type { Batch, KeyedCharge } from "./script/batch.js";
import { looksOf, outcomesOf, receiptsOf } from "./script/decode.js";

/** What a batch over several slots needs of its store. */
interface Way {
  readonly slotOf: (key: string) => number;
  /** Sends a batch whose keys share a slot. */
  readonly send: (leg: Batch) => Promise<readonly number[]>;
  /** Gives back, without being waited for. */
  readonly refund: (receipts: readonly ChargeReceipt[]) => void;
  /** Counts towards penalties, without being waited for. */
  readonly strike: (charges: readonly KeyedCharge[]) => void;
}

interface Leg {
  readonly slot: number;
  /** The places of its charges in the whole batch. */
  readonly places: readonly number[];
  readonly charges: readonly KeyedCharge[];
}

/**
 * Applies a batch whose keys lie in several slots of a cluster: slot by slot in ascending order, the one with
 * a leaky bucket last, since only the newest slot in a queue can be given back. What was charged is given
 * back when a later leg refuses or fails. Between two legs others may be admitted, never more than the limit.
 * A refusal counts towards a penalty in the leg that refused.
 */
export async function applyInLegs(batch: Batch, way: Way): Promise<readonly Outcome[]> {
  const legs = legsOf(batch.charges, way.slotOf);
  const [only] = legs;
  if (legs.length === 1 && only !== undefined) return outcomesOf(batch, await way.send(batch));
  const answered: (readonly Outcome[])[] =
    batch.mode === "commit" ? await commit(legs, batch, way) : await each(legs, batch, way);
  const outcomes: Outcome[] = [];
  for (const [index, { places }] of legs.entries()) {
    for (const [at, place] of places.entries()) {
      outcomes[place] = (answered[index] as readonly Outcome[])[at] as Outcome;
    }
  }
  return outcomes;
}

async function commit(
  legs: readonly Leg[],
  { wantNext }: Batch,
  way: Way,
): Promise<(readonly Outcome[])[]> {
  const made: Outcome[][] = [];
  const met: Outcome[][] = [];
  const giveBack = (): void => {
    const receipts = receiptsOf(made.flat());
    if (receipts.length > 0) way.refund(receipts);
  };
  for (const [index, { charges }] of legs.entries()) {
    const leg: Batch = { mode: "leg", wantNext, charges };
    let numbers: readonly number[];
    try {
      numbers = await way.send(leg);
    } catch (error) {
      giveBack();
      throw error;
    }
    const outcomes = outcomesOf(leg, numbers);
    if (outcomes.some(({ allowed, policy }) => !allowed && !policy.shadow)) {
      giveBack();
      const rest = legs.slice(index + 1);
      return [...met, outcomes, ...(await each(rest, { mode: "peek", wantNext }, way))];
    }
    made.push(outcomes);
    met.push(looksOf(leg, numbers));
  }
  // Only now is it known that all enforced policies admit, so that the refusals of shadows count.
  const struck = legs.flatMap(({ charges }, index) =>
    charges.filter((_, at) => strikes((made[index] as readonly Outcome[])[at] as Outcome)),
  );
  if (struck.length > 0) way.strike(struck);
  return made;
}

function strikes({ allowed, banMs, policy }: Outcome): boolean {
  return !allowed && banMs === 0 && policy.penalty?.on === "refusals";
}

/** Sends every leg by itself. */
function each(
  legs: readonly Leg[],
  { mode, wantNext }: Pick<Batch, "mode" | "wantNext">,
  way: Way,
): Promise<(readonly Outcome[])[]> {
  return Promise.all(
    legs.map(async ({ charges }) => {
      const leg: Batch = { mode, wantNext, charges };
      return outcomesOf(leg, await way.send(leg));
    }),
  );
}

function legsOf(charges: readonly KeyedCharge[], slotOf: (key: string) => number): readonly Leg[] {
  const legs = new Map<number, { slot: number; places: number[]; charges: KeyedCharge[] }>();
  for (const [place, charge] of charges.entries()) {
    const slot = slotOf(charge.key);
    const leg = legs.get(slot);
    if (leg === undefined) {
      legs.set(slot, { slot, places: [place], charges: [charge] });
    } else {
      leg.places.push(place);
      leg.charges.push(charge);
    }
  }
  return [...legs.values()].sort((a, b) => queues(a) - queues(b) || a.slot - b.slot);
}

// One that is enforced holds somebody back who is not given a slot again; a shadow's is only reported.
function queues({ charges }: Leg): number {
  let rank = 0;
  for (const { policy } of charges)
    if (policy.algorithm === "leaky-bucket") rank = Math.max(rank, policy.shadow ? 1 : 2);
  return rank;
}
