import type { Millis } from "../clock.js";

/** What a call of some cost would meet at some instant. Times are relative to that instant. */
interface Measure {
  readonly allowed: boolean;
  /** How many further calls of cost 1 would be admitted at the same instant. */
  readonly remaining: number;
  /** 0 when admitted; `Infinity` when this cost can never fit; otherwise the exact wait. */
  readonly retryAfterMs: Millis;
  /** Until the state cannot be told from an untouched one. */
  readonly resetMs: Millis;
  /** How long an admitted call must be held before it may go on. */
  readonly delayMs: Millis;
}

/** What a spend took and from where: enough to give it back. */
export interface Receipt {
  /** How much of the cost is to be given back; all of it unless it says so. */
  readonly part?: number;
  /** The instant at which the charge was made, in the store's own time. */
  readonly at: Millis;
  readonly cost: number;
  /** Which part of the state was charged: the window, or the level that a queue was left at. */
  readonly mark: number;
}

/**
 * An algorithm in two phases, so that several policies can be measured before any of them is charged.
 *
 * Everything is an integer. An instant earlier than the one that the state holds is treated as that
 * instant, and the times in the answer grow by the difference.
 *
 * @typeParam P - the policies that it decides
 * @typeParam S - the state of one key, changed in place by `spend` and `refund` alone
 */
export interface Algorithm<P, S> {
  /** How a store may keep many states compactly; absent for a state that is more than a few numbers. */
  readonly columns?: Columns<S>;
  /** An untouched state. */
  create(policy: P): S;
  /** What a call of `cost` meets; changes nothing. No state means an untouched one. */
  measure(policy: P, state: S | undefined, now: Millis, cost: number): Measure;
  /** Takes `cost` (at least 1), right after a measure of the same instant that admitted it. */
  spend(policy: P, state: S, now: Millis, cost: number): Receipt;
  /** Gives back what a receipt says was taken, as far as it still counts. The caller uses a receipt once. */
  refund(policy: P, state: S, receipt: Receipt, now: Millis): void;
  /** From this instant on the state behaves as if it were absent; 0 when it is untouched already. */
  expiresAt(policy: P, state: S): Millis;
}

/** Packs a state into `width` neighbouring numbers, and unpacks it again. */
export interface Columns<S> {
  readonly width: number;
  save(state: S, cells: Float64Array, at: number): void;
  load(state: S, cells: Float64Array, at: number): void;
}
