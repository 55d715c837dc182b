import type { AnyAlgorithm } from "../../algorithms/index.js";
import type { Millis } from "../../clock.js";
import type { Policy } from "../../policy/policy.js";

const initialSlots = 16;

/** What is remembered beside a state that several versions of a policy have written. */
export interface Remembered {
  /** The highest of them, where that is not the one that wrote last. */
  readonly highest?: number;
  /** Until when the state is kept, even though it may count nothing any more. */
  readonly untilMs?: Millis;
}

/** What states are kept under: a policy, or what stands for the bans of one. */
export type Keeper = (Policy | { readonly name: string; readonly algorithm: "ban" }) & Remembered;

/**
 * The states of all subjects of one policy name under one algorithm, in numbered slots without gaps, so that a sweep can walk
 * them and an eviction can pick some at random.
 *
 * States that are a few numbers live packed in one array; `load` unpacks them into a scratch state that
 * the next `load` overwrites, and `save` packs it again.
 */
// biome-ignore lint/suspicious/noExplicitAny: the state type is known to the algorithm alone
export class PolicyTable<S = any> {
  readonly name: string;
  readonly algorithm: AnyAlgorithm;
  /** All tables of the same name, this one among them. */
  readonly kin: PolicyTable[];
  /** The policy that each slot's state was written under, once there are several: tiers, or versions. */
  #keepers: Keeper[] | undefined;
  #keeper: Keeper;
  readonly #slots = new Map<string, number>();
  readonly #subjects: string[] = [];
  readonly #objects: S[] = [];
  #cells: Float64Array;
  readonly #width: number;
  readonly #scratch: S;

  constructor(keeper: Keeper, algorithm: AnyAlgorithm, kin: PolicyTable[]) {
    this.name = keeper.name;
    this.algorithm = algorithm;
    this.kin = kin;
    this.#keeper = keeper;
    this.#width = algorithm.columns?.width ?? 0;
    this.#cells = new Float64Array(initialSlots * this.#width);
    this.#scratch = algorithm.create(keeper);
  }

  get size(): number {
    return this.#subjects.length;
  }

  /** The slot of a subject, or undefined when it is not kept. */
  slotOf(subject: string): number | undefined {
    return this.#slots.get(subject);
  }

  subjectOf(slot: number): string {
    return this.#subjects[slot] as string;
  }

  /** The policy that the state in a slot was written under. */
  keeperOf(slot: number): Keeper {
    return this.#keepers === undefined ? this.#keeper : (this.#keepers[slot] as Keeper);
  }

  load(slot: number): S {
    const { columns } = this.algorithm;
    if (columns === undefined) return this.#objects[slot] as S;
    columns.load(this.#scratch, this.#cells, slot * columns.width);
    return this.#scratch;
  }

  /** Keeps a state that `load` or `untouched` gave and the algorithm then changed. */
  save(slot: number, state: S, keeper: Keeper): void {
    if (keeper !== this.#keeper || this.#keepers !== undefined) this.#note(slot, keeper);
    const { columns } = this.algorithm;
    if (columns === undefined) this.#objects[slot] = state;
    else columns.save(state, this.#cells, slot * columns.width);
  }

  /** A state to spend from for a subject that has none. */
  untouched(): S {
    return this.algorithm.create(this.#keeper);
  }

  /** Keeps the state of a new subject. */
  add(subject: string, state: S, keeper: Keeper): void {
    const slot = this.#subjects.length;
    this.#slots.set(subject, slot);
    this.#subjects.push(subject);
    if ((slot + 1) * this.#width > this.#cells.length) this.#resize(this.#cells.length * 2);
    this.save(slot, state, keeper);
  }

  /** Forgets a subject; the last slot's subject takes its place. */
  remove(slot: number): void {
    const last = this.#subjects.length - 1;
    this.#slots.delete(this.#subjects[slot] as string);
    if (slot !== last) {
      const moved = this.#subjects[last] as string;
      this.#subjects[slot] = moved;
      this.#slots.set(moved, slot);
      this.save(slot, this.load(last), this.keeperOf(last));
    }
    this.#subjects.pop();
    this.#keepers?.pop();
    if (this.#width === 0) this.#objects.pop();
    else if (
      this.#cells.length > initialSlots * this.#width &&
      last * this.#width < this.#cells.length / 4
    ) {
      this.#resize(this.#cells.length / 2);
    }
  }

  /** From when on the state in a slot, and what is remembered with it, behaves as if it were absent. */
  expiresAt(slot: number): Millis {
    const keeper = this.keeperOf(slot);
    return Math.max(this.algorithm.expiresAt(keeper, this.load(slot)), keeper.untilMs ?? 0);
  }

  #note(slot: number, keeper: Keeper): void {
    if (this.#keepers === undefined && this.#subjects.length <= 1) this.#keeper = keeper;
    else {
      this.#keepers ??= new Array<Keeper>(this.#subjects.length).fill(this.#keeper);
      this.#keepers[slot] = keeper;
    }
  }

  #resize(cells: number): void {
    const kept = this.#cells.subarray(0, Math.min(cells, this.#cells.length));
    this.#cells = new Float64Array(cells);
    this.#cells.set(kept);
  }
}
