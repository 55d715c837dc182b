import type { Policy } from "@headgate/core";

/**
 * What a batch asks of the script: `commit` all or nothing; `leg`, a commit that also tells what each
 * charge met, for a larger batch that a later leg may refuse; `peek`; `settle` each as far as there is room;
 * `refund` of receipts; `reset`, or `reset-but-bans`. Of policies with a penalty alone: `strike`; `ban` for the
 * cost in ms, 0 to lift one; `bans`, to tell when they end.
 */
export type BatchMode =
  | "commit"
  | "leg"
  | "peek"
  | "settle"
  | "refund"
  | "reset"
  | "reset-but-bans"
  | "strike"
  | "ban"
  | "bans";

/** A charge with its key; of a receipt also the instant, the mark, and the part to give back if not all. */
export interface KeyedCharge {
  readonly key: string;
  readonly policy: Policy;
  readonly subject: string;
  readonly cost: number;
  readonly at?: number;
  readonly mark?: number;
  readonly part?: number;
}

/** Charges that are decided together. */
export interface Batch {
  readonly mode: BatchMode;
  readonly wantNext: boolean;
  readonly charges: readonly KeyedCharge[];
}
