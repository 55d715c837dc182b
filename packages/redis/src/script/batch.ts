import type { Policy } from "@headgate/core";

/**
 * What a batch asks of the script: `commit` all or nothing; `leg`, a commit that also tells what each
 * charge met, for a larger batch that a later leg may refuse; `peek`; `refund` of receipts; `reset`.
 */
export type BatchMode = "commit" | "leg" | "peek" | "refund" | "reset";

/** A charge with its key; of a receipt also the instant and the mark. */
export interface KeyedCharge {
  readonly key: string;
  readonly policy: Policy;
  readonly subject: string;
  readonly cost: number;
  readonly at?: number;
  readonly mark?: number;
}

/** Charges that are decided together. */
export interface Batch {
  readonly mode: BatchMode;
  readonly wantNext: boolean;
  readonly charges: readonly KeyedCharge[];
}
