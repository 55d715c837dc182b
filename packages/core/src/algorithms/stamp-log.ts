import type { Millis } from "../clock.js";

const initialEntries = 2;

/** Totals start afresh beyond this: with a full window, less than 2^52 units, on top they are still exact. */
const largestDropped = 2 ** 52;

/**
 * The stamps of admitted units, oldest first, in a ring. Units of one instant share an entry.
 *
 * An entry is a stamp and the running total of units up to and including it, so counting and finding
 * the n-th unit are binary searches, and dropping from the front moves an index. No call costs more
 * when the limit is larger. Memory: at most one entry for each unit, up to the ring's doubling.
 */
export class StampLog {
  #stamps: number[] = new Array<number>(initialEntries).fill(0);
  #totals: number[] = new Array<number>(initialEntries).fill(0);
  #head = 0;
  #size = 0;
  /** Units of all entries that have been dropped: what totals are counted from. */
  #dropped = 0;

  /** The newest stamp, 0 when there is none. Beside the ring, which is cold when a client comes back. */
  #newest: Millis = 0;

  get newest(): Millis {
    return this.#newest;
  }

  /** Units held, expired ones included. */
  get units(): number {
    return this.#size === 0 ? 0 : this.#totalAt(this.#size - 1) - this.#dropped;
  }

  /** Entries that memory is held for. */
  get capacity(): number {
    return this.#stamps.length;
  }

  /** How many units have a stamp strictly after `instant`. */
  unitsAfter(instant: Millis): number {
    const first = this.#firstAfter(instant);
    return first === this.#size ? 0 : this.#totalAt(this.#size - 1) - this.#totalBefore(first);
  }

  /** The stamp of the `n`-th unit held, counted from 1 at the oldest. */
  stampOfUnit(n: number): Millis {
    return this.#stampAt(this.#search((index) => this.#totalAt(index) - this.#dropped >= n));
  }

  /** Forgets all units stamped at or before `instant`. */
  dropThrough(instant: Millis): void {
    const kept = this.#firstAfter(instant);
    if (kept === this.#size) {
      this.#clear();
      return;
    }
    this.#dropped = this.#totalBefore(kept);
    this.#head = this.#slot(kept);
    this.#size -= kept;
    // To twice what is left: the cost is that of the units kept, not of the many that went.
    if (this.#size <= this.capacity / 4) this.#resize(2 ** Math.ceil(Math.log2(this.#size * 2)));
    else if (this.#dropped > largestDropped) this.#resize(this.capacity);
  }

  /** Adds units at an instant that is not before the newest stamp. */
  append(stamp: Millis, units: number): void {
    if (this.#size > 0 && this.#newest === stamp) {
      const last = this.#slot(this.#size - 1);
      this.#totals[last] = (this.#totals[last] as number) + units;
      return;
    }
    if (this.#size === this.capacity) this.#resize(this.capacity * 2);
    const slot = this.#slot(this.#size);
    this.#stamps[slot] = stamp;
    this.#totals[slot] = this.#totalBefore(this.#size) + units;
    this.#size += 1;
    this.#newest = stamp;
  }

  /** Takes back up to `units` that carry exactly this stamp. Costs a step for each later entry. */
  take(stamp: Millis, units: number): void {
    const index = this.#firstAfter(stamp - 1);
    if (index === this.#size || this.#stampAt(index) !== stamp) return;
    const held = this.#totalAt(index) - this.#totalBefore(index);
    const taken = Math.min(units, held);
    const removed = taken === held ? 1 : 0;
    for (let from = index + removed; from < this.#size; from += 1) {
      const slot = this.#slot(from - removed);
      this.#stamps[slot] = this.#stampAt(from);
      this.#totals[slot] = this.#totalAt(from) - taken;
    }
    this.#size -= removed;
    if (this.#size === 0) this.#clear();
    else this.#newest = this.#stampAt(this.#size - 1);
  }

  #firstAfter(instant: Millis): number {
    // The two usual answers first: everything has expired, or nothing has.
    if (this.newest <= instant) return this.#size;
    if (this.#stampAt(0) > instant) return 0;
    return this.#search((index) => this.#stampAt(index) > instant);
  }

  /** The first index whose entry satisfies a condition that holds from some entry on. */
  #search(holds: (index: number) => boolean): number {
    let low = 0;
    let high = this.#size - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (holds(middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #totalBefore(index: number): number {
    return index === 0 ? this.#dropped : this.#totalAt(index - 1);
  }

  #slot(index: number): number {
    return (this.#head + index) & (this.#stamps.length - 1);
  }

  #stampAt(index: number): number {
    return this.#stamps[this.#slot(index)] as number;
  }

  #totalAt(index: number): number {
    return this.#totals[this.#slot(index)] as number;
  }

  #clear(): void {
    this.#head = 0;
    this.#size = 0;
    this.#newest = 0;
    this.#dropped = 0;
    if (this.capacity > initialEntries) this.#resize(initialEntries);
  }

  /** Moves the entries to new rings, whose length stays a power of two, and starts their totals afresh. */
  #resize(entries: number): void {
    const length = Math.max(initialEntries, entries);
    const stamps = new Array<number>(length).fill(0);
    const totals = new Array<number>(length).fill(0);
    for (let index = 0; index < this.#size; index += 1) {
      stamps[index] = this.#stampAt(index);
      totals[index] = this.#totalAt(index) - this.#dropped;
    }
    this.#stamps = stamps;
    this.#totals = totals;
    this.#head = 0;
    this.#dropped = 0;
  }
}
