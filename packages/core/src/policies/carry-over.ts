import type { CarryOver } from "../extension.js";
import type { Policy } from "../policy/policy.js";
import type { PolicyTable } from "../store/memory/policy-table.js";
import type { Entry, Tables } from "../store/memory/tables.js";
import { migrated, sameForm } from "./migration.js";

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
  const untouched: Entry = { ...here, state: undefined, keeper: policy };
  if (from === undefined || slot === undefined || from.expiresAt(slot) <= now) return untouched;
  const held = from.keeperOf(slot) as Policy;
  if (sameForm(held, policy)) return { ...here, state: from.load(slot), keeper: policy };
  const state = migrated(
    tables.algorithms,
    { policy: held, state: from.load(slot) },
    { policy, now },
  );
  if (state === undefined) return untouched;
  const entry = { ...here, state, keeper: atLeast(policy, held.version) };
  if (!write) return entry;
  tables.keep(entry, state, subject, now);
  return { ...entry, slot: table.slotOf(subject) };
}

function tableWith(kin: readonly PolicyTable[], subject: string): PolicyTable | undefined {
  return kin.find((table) => table.slotOf(subject) !== undefined);
}

const raised = new WeakMap<Policy, Policy>();

/** The policy under a version that is no lower than the one found: versions in states never go down. */
function atLeast(policy: Policy, version: number): Policy {
  if (policy.version >= version) return policy;
  const known = raised.get(policy);
  if (known?.version === version) return known;
  const made = Object.freeze({ ...policy, version });
  raised.set(policy, made);
  return made;
}
