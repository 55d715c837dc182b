import type { Clock, Millis } from "./clock.js";
import { HeadgateError } from "./errors.js";
import type { Policy, PolicyNumbers } from "./policy/policy.js";
import type { Fault, PolicyInput } from "./policy/rules.js";
import type { Entry, Tables } from "./store/memory/tables.js";
import type { Bans, Charge, ChargeReceipt, Outcome } from "./store/store.js";

/**
 * What the entry `@headgate/core/policies` adds to plain limits. It is kept out of the main entry, where every
 * byte counts, and comes with whatever needs it: the adapters, the Redis store, the schema.
 */
export interface Extension {
  /** What is wrong with the fields that go beyond a plain limit; only of numbers that are right one by one. */
  faults(input: PolicyInput): readonly Fault[];
  /** Those of them that an input has, resolved. */
  resolve(input: PolicyInput): object;
  /** The policy for a caller, or what is wrong with a tier or numbers that it cannot have. */
  variant(policy: Policy, choice: CallerNumbers): Policy | string;
  /** Finds the state of a subject that was written under another policy of the same name. */
  carryOver(tables: Tables, call: CarryOver): Entry;
  /** As much of a settled charge as capacity and debt have room for. */
  room(charge: Charge, entry: Entry, now: Millis): number;
  /** Gives back what a receipt names, as far as it still counts. */
  refund(tables: Tables, receipt: ChargeReceipt, now: Millis): void;
  /** The bans of a memory store. */
  memoryBans(tables: Tables, clock: Clock): MemoryBans;
}

/** What a caller brings along: the name of a tier, or numbers of its own, which go first. */
export interface CallerNumbers {
  readonly tier?: string | undefined;
  readonly numbers?: PolicyNumbers | undefined;
}

export interface CarryOver {
  readonly policy: Policy;
  readonly subject: string;
  readonly now: Millis;
  /** Whether a converted state is to be left converted. */
  readonly write: boolean;
}

/** When a store was asked, and whether for more than usual. */
export interface Asked {
  readonly now: Millis;
  readonly wantNext: boolean;
}

export interface MemoryBans extends Bans {
  /** Until a subject's ban ends; 0 when there is none. */
  endsInMs(policy: Policy, subject: string, now: Millis): Millis;
  /** An outcome as it is under a ban, if there is one. */
  told(outcome: Outcome, subject: string, asked: Asked): Outcome;
  /** Counts a refusal by the policy itself towards its penalty. */
  struck(outcome: Outcome, subject: string, asked: Asked): Outcome;
  forget(policy: Policy, subject: string, keepBan: boolean): void;
}

let loaded: Extension | undefined;

export function extend(extension: Extension): void {
  loaded = extension;
}

/** The extension, where something has loaded it. */
export function extension(): Extension | undefined {
  return loaded;
}

/** @throws HeadgateError `INVALID_OPTION` where nothing has loaded the extension that this needs */
export function extensionFor(what: string): Extension {
  if (loaded !== undefined) return loaded;
  throw new HeadgateError("INVALID_OPTION", `${what}: needs import "@headgate/core/policies"`);
}
