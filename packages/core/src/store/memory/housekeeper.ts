import type { Millis } from "../../clock.js";
import { capacityOf } from "../../policy/capacity.js";
import type { Keeper, PolicyTable } from "./policy-table.js";

/**
 * A sweep looks at 4 slots, once it is worth it: after 16 calls, or 2 new keys, which is more slots than keys are
 * added, so that expired ones cannot pile up.
 */
const sweptAtOnce = 4;
const worthASweep = 16;
const worthOfNewKey = 8;

/** Slots that an eviction may look at. */
const sampled = 16;

/** A place in one of the tables. */
interface Place {
  readonly table: PolicyTable;
  readonly slot: number;
}

/** Keeps the number of keys of all tables within a cap: sweeps what has expired, and evicts where it must. */
export class Housekeeper {
  readonly #maxKeys: number;
  readonly #tables: PolicyTable[] = [];
  #size = 0;
  #unswept = 0;
  #sweptTable = 0;
  #sweptSlot = 0;

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  /** Keys in all tables together. */
  get size(): number {
    return this.#size;
  }

  watch(table: PolicyTable): void {
    this.#tables.push(table);
  }

  /** Adds a subject that the table does not hold, evicting another key first when the cap is reached. */
  add<S>(
    table: PolicyTable<S>,
    { subject, state, keeper, now }: { subject: string; state: S; keeper: Keeper; now: Millis },
  ): void {
    this.sweep(now, worthOfNewKey);
    if (this.#size >= this.#maxKeys) this.#evict(now);
    table.add(subject, state, keeper);
    this.#size += 1;
  }

  remove(table: PolicyTable, slot: number): void {
    table.remove(slot);
    this.#size -= 1;
  }

  /** Drops some of the states that have expired, now and then. */
  sweep(now: Millis, worth = 1): void {
    this.#unswept += worth;
    if (this.#unswept < worthASweep || this.#size === 0) return;
    this.#unswept = 0;
    for (let looked = 0; looked < sweptAtOnce; looked += 1) {
      const table = this.#tables[this.#sweptTable];
      if (table === undefined || this.#sweptSlot >= table.size) {
        this.#sweptTable = (this.#sweptTable + 1) % this.#tables.length;
        this.#sweptSlot = 0;
      } else if (table.expiresAt(this.#sweptSlot) <= now) {
        this.remove(table, this.#sweptSlot);
      } else {
        this.#sweptSlot += 1;
      }
    }
  }

  #evict(now: Millis): void {
    let victim: Place | undefined;
    let least = Infinity;
    for (let looked = 0; looked < sampled; looked += 1) {
      const place = this.#pick();
      const missed = missedBy(place, now);
      if (missed < least) {
        least = missed;
        victim = place;
      }
      if (missed < 0) break;
    }
    if (victim !== undefined) this.remove(victim.table, victim.slot);
  }

  // At random, because any order that a client can foresee lets it choose whose key goes.
  #pick(): Place {
    let slot = Math.floor(Math.random() * this.#size);
    for (const table of this.#tables) {
      if (slot < table.size) return { table, slot };
      slot -= table.size;
    }
    throw new RangeError("keys are miscounted");
  }
}

/**
 * How much a key would be missed: below 0 when it has expired, below 1 by the used share of its
 * allowance, and from 1 on by the wait of a key that is refused now.
 */
function missedBy({ table, slot }: Place, now: Millis): number {
  if (table.expiresAt(slot) <= now) return -1;
  const keeper = table.keeperOf(slot);
  const { remaining, retryAfterMs } = table.algorithm.measure(keeper, table.load(slot), now, 1);
  if (remaining === 0) return 1 + retryAfterMs;
  // Strikes that may still lead to a ban are no allowance; they go before any client that is refused.
  return keeper.algorithm === "ban" ? 0.5 : 1 - remaining / capacityOf(keeper);
}
