import type { Millis } from "../clock.js";
import type { Outcome } from "../store/store.js";

/** What an outcome says, without whom it is about: what two stores, or two subjects, can be compared by. */
export interface Answer {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly retryAfterMs: Millis;
  readonly nextMs: Millis | undefined;
  readonly resetMs: Millis;
  readonly delayMs: Millis;
}

export function answerOf(outcome: Outcome): Answer {
  const { allowed, limit, remaining, retryAfterMs, nextMs, resetMs, delayMs } = outcome;
  return { allowed, limit, remaining, retryAfterMs, nextMs, resetMs, delayMs };
}

/** @throws Error with `message` unless the condition holds */
export function expectThat(condition: boolean, message: string | (() => string)): void {
  if (!condition) throw new Error(typeof message === "string" ? message : message());
}

/** @throws Error naming `what` and both answers unless they are alike in every field */
export function expectSameAnswer(actual: Answer, expected: Answer, what: string): void {
  const same =
    actual.allowed === expected.allowed &&
    actual.limit === expected.limit &&
    actual.remaining === expected.remaining &&
    actual.retryAfterMs === expected.retryAfterMs &&
    actual.nextMs === expected.nextMs &&
    actual.resetMs === expected.resetMs &&
    actual.delayMs === expected.delayMs;
  if (!same) throw new Error(`${what}: got ${text(actual)}, expected ${text(expected)}`);
}

/** @throws Error naming `what` and both values unless they are written alike; the order of fields counts */
export function expectSame(actual: unknown, expected: unknown, what: string): void {
  const [got, wanted] = [text(actual), text(expected)];
  if (got !== wanted) throw new Error(`${what}: got ${got}, expected ${wanted}`);
}

/** JSON that also tells `Infinity`, `NaN` and `undefined` apart. */
export function text(value: unknown): string {
  return JSON.stringify(value === undefined ? "undefined" : value, (_key, part: unknown) => {
    if (part === undefined) return "undefined";
    return typeof part === "number" && !Number.isFinite(part) ? String(part) : part;
  });
}
