import type { AlgorithmTable, AnyAlgorithm } from "../../algorithms/index.js";
import type { Millis } from "../../clock.js";
import { extensionFor } from "../../extension.js";
import type { AlgorithmName, Policy } from "../../policy/policy.js";
import type { Housekeeper } from "./housekeeper.js";
import { type Keeper, PolicyTable } from "./policy-table.js";

/** Where a subject's state is, or is to be, and the state, if there is a live one. */
export interface Entry {
  readonly table: PolicyTable;
  readonly slot: number | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: the state type is known to the algorithm alone
  readonly state: any;
  /** What the state is to be written under. */
  readonly keeper: Keeper;
}

/** All tables of a store: one for each policy name and algorithm, so most names have one. */
export class Tables {
  readonly algorithms: AlgorithmTable;
  readonly #housekeeper: Housekeeper;
  readonly #kin = new Map<string, PolicyTable[]>();
  #latest: PolicyTable | undefined;
  #latestKeeper: Keeper | undefined;

  constructor(algorithms: AlgorithmTable, housekeeper: Housekeeper) {
    this.algorithms = algorithms;
    this.#housekeeper = housekeeper;
  }

  /** The entry of a subject; where another policy of the name has written, it is carried over. */
  find(policy: Policy, subject: string, now: Millis, write: boolean): Entry {
    const table = this.tableOf(policy);
    const slot = table.slotOf(subject);
    if (slot === undefined ? table.kin.length === 1 : table.keeperOf(slot) === policy)
      return {
        table,
        slot,
        state: slot === undefined ? undefined : table.load(slot),
        keeper: policy,
      };
    return extensionFor(policy.name).carryOver(this, {
      policy,
      subject,
      now,
      write,
    });
  }

  /** Writes a state to an entry. */
  keep({ table, slot, keeper }: Entry, state: unknown, subject: string, now: Millis): void {
    if (slot !== undefined) {
      table.save(slot, state, keeper);
      return;
    }
    if (table.kin.length > 1) this.forget(keeper.name, subject);
    this.#housekeeper.add(table, { subject, state, keeper, now });
  }

  forget(name: string, subject: string): void {
    for (const table of this.#kin.get(name) ?? []) {
      const slot = table.slotOf(subject);
      if (slot !== undefined) this.#housekeeper.remove(table, slot);
    }
  }

  tableOf(
    keeper: Keeper,
    algorithm: AnyAlgorithm = this.algorithms[keeper.algorithm as AlgorithmName],
  ): PolicyTable {
    if (this.#latestKeeper === keeper) return this.#latest as PolicyTable;
    const kin = this.#kin.get(keeper.name) ?? [];
    let table = kin.find((known) => known.algorithm === algorithm);
    if (table === undefined) {
      table = new PolicyTable(keeper, algorithm, kin);
      kin.push(table);
      this.#kin.set(keeper.name, kin);
      this.#housekeeper.watch(table);
    }
    this.#latest = table;
    this.#latestKeeper = keeper;
    return table;
  }
}
