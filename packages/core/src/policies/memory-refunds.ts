import type { Millis } from "../clock.js";
import type { Tables } from "../store/memory/tables.js";
import type { ChargeReceipt } from "../store/store.js";
import { highestOf, type KeptPolicy, keptUnder } from "./kept-policy.js";

/**
 * Gives back what a receipt names to the state that its charge has become part of, as far as it still counts. A
 * state that counts nothing then is forgotten, but not that a higher version has written it.
 */
export function refundInMemory(tables: Tables, receipt: ChargeReceipt, now: Millis): void {
  const { policy, subject } = receipt;
  const table = tables.tableOf(policy);
  const slot = table.slotOf(subject);
  const keeper = slot === undefined ? undefined : (table.keeperOf(slot) as KeptPolicy);
  // What has been converted since keeps no trace of single charges.
  if (slot === undefined || keeper?.windowMs !== policy.windowMs) return;
  const untilMs = table.expiresAt(slot);
  const state = table.load(slot);
  table.algorithm.refund(keeper, state, receipt, now);
  const highest = highestOf(keeper);
  const emptied = table.algorithm.expiresAt(keeper, state) <= now;
  if (!emptied) table.save(slot, state, keeper);
  else if (highest === 1 || untilMs <= now) tables.forget(policy.name, subject);
  else table.save(slot, state, keptUnder(keeper, { highest, untilMs, now }));
}
