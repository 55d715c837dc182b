import type { Batch, KeyedCharge } from "./batch.js";

/** Neighbouring batches that are told to the script as one. */
export interface Part {
  readonly batches: readonly Batch[];
  /** Whether they are a run: commits of one plain charge each, all of one policy and cost. */
  readonly isRun: boolean;
}

export function partsOf(batches: readonly Batch[]): readonly Part[] {
  const parts: { batches: Batch[]; isRun: boolean }[] = [];
  let first: KeyedCharge | undefined;
  for (const batch of batches) {
    const charge = plainCharge(batch);
    if (charge !== undefined && charge.policy === first?.policy && charge.cost === first.cost) {
      parts[parts.length - 1]?.batches.push(batch);
    } else parts.push({ batches: [batch], isRun: charge !== undefined });
    first = charge;
  }
  return parts;
}

/** The charge of a batch that may be part of a run: it commits it alone, and its answer is a few numbers. */
function plainCharge({ mode, wantNext, charges }: Batch): KeyedCharge | undefined {
  const [charge] = charges;
  if (charge === undefined || charges.length > 1 || mode !== "commit" || wantNext) return undefined;
  const { penalty, shadow, algorithm } = charge.policy;
  const plain = penalty === undefined && !shadow && algorithm !== "leaky-bucket";
  return plain && charge.cost > 0 ? charge : undefined;
}
