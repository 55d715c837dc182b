import type { Millis } from "../clock.js";
import type { Policy } from "../policy/policy.js";
import type { Tables } from "../store/memory/tables.js";
import type { ChargeReceipt } from "../store/store.js";

/** Gives back what a receipt names to the state that its charge has become part of, as far as it still counts. */
export function refundInMemory(tables: Tables, receipt: ChargeReceipt, now: Millis): void {
  const { policy, subject } = receipt;
  const table = tables.tableOf(policy);
  const slot = table.slotOf(subject);
  const keeper = slot === undefined ? undefined : (table.keeperOf(slot) as Policy);
  // What has been converted since keeps no trace of single charges.
  if (slot === undefined || keeper?.windowMs !== policy.windowMs) return;
  const state = table.load(slot);
  table.algorithm.refund(keeper, state, receipt, now);
  table.save(slot, state, keeper);
  if (table.expiresAt(slot) <= now) tables.forget(policy.name, subject);
}
