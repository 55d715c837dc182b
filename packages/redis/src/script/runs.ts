import type { Batch, KeyedCharge } from "./batch.js";

/** How many neighbouring batches are told to the script as one: 1 for a batch by itself. */
export function runsOf(batches: readonly Batch[]): readonly number[] {
  const runs: number[] = [];
  let first: KeyedCharge | undefined;
  for (const batch of batches) {
    const charge = plainCharge(batch);
    const joins =
      charge !== undefined && charge.policy === first?.policy && charge.cost === first.cost;
    if (joins) runs[runs.length - 1] = (runs.at(-1) as number) + 1;
    else runs.push(1);
    first = charge;
  }
  return runs;
}

/** The charge of a batch that may be part of a run: it commits it alone, and its answer is a few numbers. */
function plainCharge({ mode, wantNext, charges }: Batch): KeyedCharge | undefined {
  const [charge] = charges;
  if (charge === undefined || charges.length > 1 || mode !== "commit" || wantNext) return undefined;
  const { penalty, shadow, algorithm } = charge.policy;
  const plain = penalty === undefined && !shadow && algorithm !== "leaky-bucket";
  return plain && charge.cost > 0 ? charge : undefined;
}
