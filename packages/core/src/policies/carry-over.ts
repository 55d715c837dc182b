import type { CarryOver } from "../extension.js";
import type { PolicyTable } from "../store/memory/policy-table.js";
import type { Entry, Tables } from "../store/memory/tables.js";
import { highestOf, type KeptPolicy, keptUnder } from "./kept-policy.js";
import { migrated, ruleFor, sameForm } from "./migration.js";

/**
 * Finds the state of a subject that another policy of the name has written: another tier, or another version. One
 * of another form is converted, and left so where the caller may write: later calls must go on from there, or
 * the waits that were promised would move.
 */
export function carryOver(tables: Tables, { policy, subject, now, write }: CarryOver): Entry {
  const table = tables.tableOf(policy);
  const from = tableWith(table.kin, subject);
  const slot = from?.slotOf(subject);
  const here = { table, slot: from === table ? slot : undefined };
  if (from === undefined || slot === undefined)
    return { ...here, state: undefined, keeper: policy };
  const held = from.keeperOf(slot) as KeptPolicy;
  const state = from.load(slot);
  const endsAt = from.algorithm.expiresAt(held, state);
  const highest = from.expiresAt(slot) > now ? highestOf(held) : policy.version;
  // What a rule forgives would have counted until then, and no more may be forgiven before.
  const rule = ruleFor(policy, highest);
  const untilMs = Math.max(held.untilMs ?? 0, rule === "keep" ? 0 : endsAt);
  const keeper = keptUnder(policy, { highest, untilMs, now });
  if (endsAt <= now) return { ...here, state: undefined, keeper };
  if (sameForm(held, policy)) return { ...here, state, keeper };
  const entry = {
    ...here,
    state: migrated(tables.algorithms, { policy: held, state }, { policy, rule, now }),
    keeper,
  };
  if (entry.state === undefined || !write) return entry;
  tables.keep(entry, entry.state, subject, now);
  return { ...entry, slot: table.slotOf(subject) };
}

function tableWith(kin: readonly PolicyTable[], subject: string): PolicyTable | undefined {
  return kin.find((table) => table.slotOf(subject) !== undefined);
}
