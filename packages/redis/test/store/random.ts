/** Random numbers that a seed repeats. */
export class SeededRandom {
  readonly seed: number;
  #state: number;

  /** @param seed - by default `HEADGATE_SEED`, or a fresh one */
  constructor(seed: number = Number(process.env.HEADGATE_SEED ?? Date.now() % 1_000_000_007)) {
    this.seed = seed;
    this.#state = seed >>> 0;
  }

  /** An integer from 0 to `below` - 1. */
  integer(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  }

  pick<T>(values: readonly T[]): T {
    return values[this.integer(values.length)] as T;
  }
}
