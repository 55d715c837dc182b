import type { Batch, KeyedCharge } from "./batch.js";

/** Neighbouring batches that are told to the script as one. */
export interface Part {
  readonly batches: readonly Batch[];
  /** Whether they are a run: commits of plain charges, all of the same policies and costs. */
  readonly isRun: boolean;
}

export function partsOf(batches: readonly Batch[]): readonly Part[] {
  const parts: { batches: Batch[]; isRun: boolean }[] = [];
  let run: readonly KeyedCharge[] | undefined;
  for (const batch of batches) {
    if (!isPlain(batch)) {
      parts.push({ batches: [batch], isRun: false });
      run = undefined;
    } else if (run !== undefined && chargesTheSame(batch.charges, run)) {
      parts[parts.length - 1]?.batches.push(batch);
    } else {
      parts.push({ batches: [batch], isRun: true });
      run = batch.charges;
    }
  }
  return parts;
}

/** Whether a batch may be part of a run: it commits, and its answer is a few numbers. */
function isPlain({ mode, wantNext, charges }: Batch): boolean {
  if (mode !== "commit" || wantNext) return false;
  for (const { policy, cost } of charges) {
    const { penalty, shadow, algorithm } = policy;
    if (penalty !== undefined || shadow || algorithm === "leaky-bucket" || cost === 0) return false;
    // A log has a straight way for itself alone.
    if (algorithm === "sliding-window" && charges.length > 1) return false;
  }
  return true;
}

function chargesTheSame(charges: readonly KeyedCharge[], others: readonly KeyedCharge[]): boolean {
  if (charges.length !== others.length) return false;
  for (let index = 0; index < charges.length; index += 1) {
    const { policy, cost } = charges[index] as KeyedCharge;
    const other = others[index] as KeyedCharge;
    if (policy !== other.policy || cost !== other.cost) return false;
  }
  return true;
}
