import { HeadgateError } from "../errors.js";
import type { Charge } from "./store.js";

/** Whether two charges are of one count: a policy's, of one subject. */
export function countsOnSame(one: Charge, other: Charge): boolean {
  return one.policy.name === other.policy.name && one.subject === other.subject;
}

/** @throws HeadgateError `INVALID_CHARGE` for a batch that names one policy and subject twice */
export function rejectRepeats(batch: readonly Charge[]): void {
  for (let index = 1; index < batch.length; index += 1) {
    const charge = batch[index] as Charge;
    if (batch.findIndex((other) => countsOnSame(other, charge)) < index)
      throw new HeadgateError(
        "INVALID_CHARGE",
        `policy "${charge.policy.name}": the batch names one subject twice`,
      );
  }
}
