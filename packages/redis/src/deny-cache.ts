import type { Millis, Outcome, Policy } from "@headgate/core";
import type { Batch, KeyedCharge } from "./script/batch.js";

const longestMs = 10_000;
const mostEntries = 10_000;

interface Refusal {
  readonly outcomes: readonly Outcome[];
  readonly keys: readonly string[];
  readonly sentAt: Millis;
  readonly untilAt: Millis;
}

/**
 * Remembers refusals of whole batches, so that hammering costs no round trip. An entry is for exactly the
 * same policies, subjects and costs; its time counts from the moment the refused call was sent, which is
 * before the store decided, so it never promises a shorter wait than the store would.
 *
 * Left out are batches whose refusals the store has to hear of, or may take back at any moment: those with a
 * penalty, a shadow, or a policy that counts by how requests end.
 */
export class DenyCache {
  readonly #now: () => Millis;
  readonly #refusals = new Map<string, Refusal>();
  readonly #namesOfKey = new Map<string, Set<string>>();
  /** When keys were last given something back, the latest last. */
  readonly #easedAt = new Map<string, Millis>();
  /** The same for all that had to leave that map. */
  #othersEasedAt: Millis = Number.NEGATIVE_INFINITY;

  /** @param now - a clock that does not run backwards */
  constructor(now: () => Millis) {
    this.#now = now;
  }

  get isEmpty(): boolean {
    return this.#refusals.size === 0;
  }

  /** The remembered outcomes with their times shortened by what has passed, or undefined. */
  outcomesOf(batch: Batch): readonly Outcome[] | undefined {
    if (this.#refusals.size === 0) return undefined;
    if (!isCertain(batch)) return undefined;
    const name = nameOf(batch);
    const refusal = this.#refusals.get(name);
    if (refusal === undefined || !decidesBy(refusal, batch)) return undefined;
    const now = this.#now();
    if (now >= refusal.untilAt || now < refusal.sentAt) {
      this.#forget(name);
      return undefined;
    }
    const passedMs = Math.floor(now - refusal.sentAt);
    return refusal.outcomes.map((outcome) => shortened(outcome, passedMs));
  }

  /** Remembers a refusal whose call was sent at `sentAt`. */
  add(batch: Batch, outcomes: readonly Outcome[], sentAt: Millis): void {
    this.#forgetOthers(batch);
    if (!isCertain(batch)) return;
    const waitMs = Math.min(longestMs, longestWait(outcomes));
    if (this.#now() >= sentAt + waitMs) return;
    if (batch.charges.some(({ key }, place) => this.#easedSince(sentAt, key, outcomes[place])))
      return;
    const name = nameOf(batch);
    this.#forget(name);
    if (this.#refusals.size >= mostEntries) {
      const [oldest] = this.#refusals.keys();
      this.#forget(oldest as string);
    }
    const keys = batch.charges.map(({ key }) => key);
    this.#refusals.set(name, { outcomes, keys, sentAt, untilAt: sentAt + waitMs });
    for (const key of keys) {
      const names = this.#namesOfKey.get(key);
      if (names === undefined) this.#namesOfKey.set(key, new Set([name]));
      else names.add(name);
    }
  }

  /** Forgets every refusal that one of these keys took part in. */
  clear(charges: readonly KeyedCharge[]): void {
    for (const { key } of charges) {
      for (const name of this.#namesOfKey.get(key) ?? []) this.#forget(name);
    }
  }

  /**
   * Forgets the refusals by these keys themselves, since something is given back to them. One that is still
   * on its way, and may have been decided before, is not remembered when it comes.
   */
  ease(charges: readonly KeyedCharge[]): void {
    const now = this.#now();
    for (const { key } of charges) {
      this.#easedAt.delete(key);
      this.#easedAt.set(key, now);
      for (const name of this.#namesOfKey.get(key) ?? []) {
        const { keys, outcomes } = this.#refusals.get(name) as Refusal;
        if (outcomes[keys.indexOf(key)]?.allowed === false) this.#forget(name);
      }
    }
    for (const [key, at] of this.#easedAt) {
      if (this.#easedAt.size <= mostEntries) break;
      this.#easedAt.delete(key);
      this.#othersEasedAt = at;
    }
  }

  /** Another policy of a name may have left a state that asks for longer waits. */
  #forgetOthers({ charges }: Batch): void {
    for (const { key, policy } of charges) {
      for (const name of this.#namesOfKey.get(key) ?? []) {
        const { keys, outcomes } = this.#refusals.get(name) as Refusal;
        if (outcomes[keys.indexOf(key)]?.policy !== policy) this.#forget(name);
      }
    }
  }

  #easedSince(sentAt: Millis, key: string, outcome: Outcome | undefined): boolean {
    if (outcome?.allowed !== false) return false;
    return (this.#easedAt.get(key) ?? this.#othersEasedAt) >= sentAt;
  }

  #forget(name: string): void {
    const refusal = this.#refusals.get(name);
    if (refusal === undefined) return;
    this.#refusals.delete(name);
    for (const key of refusal.keys) {
      const names = this.#namesOfKey.get(key);
      names?.delete(name);
      if (names?.size === 0) this.#namesOfKey.delete(key);
    }
  }
}

function isCertain({ charges }: Batch): boolean {
  return charges.every(
    ({ policy: { count, penalty, shadow } }) => count === "all" && penalty === undefined && !shadow,
  );
}

/** Whether a refusal is by the very policies of a batch: a name may have other numbers by now, or for a tier. */
function decidesBy({ outcomes }: Refusal, { charges }: Batch): boolean {
  return outcomes.every(({ policy }, place) => policy === (charges[place]?.policy as Policy));
}

// Lengths keep apart what the characters of a subject could otherwise join.
function nameOf({ charges, wantNext }: Batch): string {
  let name = wantNext ? "n" : "";
  for (const { key, cost } of charges) name += `${cost}:${key.length}:${key}`;
  return name;
}

/** The batch is refused until its last refusing policy admits. */
function longestWait(outcomes: readonly Outcome[]): Millis {
  let waitMs = 0;
  for (const { retryAfterMs } of outcomes) waitMs = Math.max(waitMs, retryAfterMs);
  return waitMs;
}

// No lower than 1: a policy whose own wait is over while another still refuses has not been asked again.
function shortened(outcome: Outcome, passedMs: Millis): Outcome {
  const less = (ms: Millis): Millis => (ms === 0 ? 0 : Math.max(1, ms - passedMs));
  return {
    ...outcome,
    retryAfterMs: less(outcome.retryAfterMs),
    nextMs: outcome.nextMs === undefined ? undefined : less(outcome.nextMs),
    resetMs: less(outcome.resetMs),
  };
}
