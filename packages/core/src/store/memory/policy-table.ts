import type { AnyAlgorithm } from "../../algorithms/index.js";
import type { Millis } from "../../clock.js";
import { capacityOf } from "../../policy/capacity.js";
import type { Policy } from "../../policy/policy.js";

const initialSlots = 16;

/**
 * The states of all subjects of one policy, in numbered slots without gaps, so that a sweep can walk
 * them and an eviction can pick some at random.
 *
 * States that are a few numbers live packed in one array; `load` unpacks them into a scratch state that
 * the next `load` overwrites, and `save` packs it again.
 */
// biome-ignore lint/suspicious/noExplicitAny: the state type is known to the algorithm alone
export class PolicyTable<S = any> {
  readonly policy: Policy;
  readonly algorithm: AnyAlgorithm;
  readonly capacity: number;
  readonly #slots = new Map<string, number>();
  readonly #subjects: string[] = [];
  readonly #objects: S[] = [];
  #cells: Float64Array;
  readonly #width: number;
  readonly #scratch: S;

  constructor(policy: Policy, algorithm: AnyAlgorithm) {
    this.policy = policy;
    this.algorithm = algorithm;
    this.capacity = capacityOf(policy);
    this.#width = algorithm.columns?.width ?? 0;
    this.#cells = new Float64Array(initialSlots * this.#width);
    this.#scratch = algorithm.create(policy);
  }

  get size(): number {
    return this.#subjects.length;
  }

  /** The slot of a subject, or undefined when it is not kept. */
  slotOf(subject: string): number | undefined {
    return this.#slots.get(subject);
  }

  load(slot: number): S {
    const { columns } = this.algorithm;
    if (columns === undefined) return this.#objects[slot] as S;
    columns.load(this.#scratch, this.#cells, slot * columns.width);
    return this.#scratch;
  }

  /** Keeps a state that `load` or `untouched` gave and the algorithm then changed. */
  save(slot: number, state: S): void {
    const { columns } = this.algorithm;
    if (columns === undefined) this.#objects[slot] = state;
    else columns.save(state, this.#cells, slot * columns.width);
  }

  /** A state to spend from for a subject that has none. */
  untouched(): S {
    return this.algorithm.create(this.policy);
  }

  /** Keeps the state of a new subject. */
  add(subject: string, state: S): void {
    const slot = this.#subjects.length;
    this.#slots.set(subject, slot);
    this.#subjects.push(subject);
    if ((slot + 1) * this.#width > this.#cells.length) this.#resize(this.#cells.length * 2);
    this.save(slot, state);
  }

  /** Forgets a subject; the last slot's subject takes its place. */
  remove(slot: number): void {
    const last = this.#subjects.length - 1;
    this.#slots.delete(this.#subjects[slot] as string);
    if (slot !== last) {
      const moved = this.#subjects[last] as string;
      this.#subjects[slot] = moved;
      this.#slots.set(moved, slot);
      this.save(slot, this.load(last));
    }
    this.#subjects.pop();
    if (this.#width === 0) this.#objects.pop();
    else if (
      this.#cells.length > initialSlots * this.#width &&
      last * this.#width < this.#cells.length / 4
    ) {
      this.#resize(this.#cells.length / 2);
    }
  }

  /** From when on the state in a slot behaves as if it were absent. */
  expiresAt(slot: number): Millis {
    return this.algorithm.expiresAt(this.policy, this.load(slot));
  }

  #resize(cells: number): void {
    const kept = this.#cells.subarray(0, Math.min(cells, this.#cells.length));
    this.#cells = new Float64Array(cells);
    this.#cells.set(kept);
  }
}
