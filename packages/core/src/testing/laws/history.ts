import fc from "fast-check";
import type { Millis } from "../../clock.js";
import type { PolicyInput } from "../../policy/rules.js";
import type { Outcome } from "../../store/store.js";
import { anyPolicy, type LawSubject } from "./policies.js";

/** A random life of a key. Its steps are numbers that get their meaning from what the key answered before. */
export interface History {
  readonly policy: PolicyInput;
  readonly startMs: Millis;
  readonly steps: readonly Step[];
}

/** How far to move on, what to ask for, and a number for whatever else a law picks at random. */
export type Step = readonly [advance: number, cost: number, pick: number];

/** What a step turned out to be. */
export interface Move {
  readonly advanceMs: Millis;
  readonly cost: number;
  readonly mode: "commit" | "peek";
  readonly pick: number;
}

const startsMs: readonly Millis[] = [1_000_000, 0, 1_700_000_000_000, 999_999, 2 ** 41 + 1];
const longestHistory = 20;

export function anyHistory(subject: LawSubject): fc.Arbitrary<History> {
  return fc
    .tuple(anyPolicy(subject), fc.nat({ max: startsMs.length - 1 }), anySteps())
    .map(([policy, start, steps]) => ({ policy, startMs: startsMs[start] as Millis, steps }));
}

/** As many random steps as a history may have. */
export function anySteps(): fc.Arbitrary<readonly Step[]> {
  const step = fc.tuple(fc.nat({ max: 15 }), fc.nat({ max: 11 }), fc.nat({ max: 2 ** 30 }));
  return fc.array(step, { minLength: 1, maxLength: longestHistory, size: "max" });
}

/** What a key was last seen to be: where steps take their boundaries from. */
export interface Seen {
  readonly windowMs: Millis;
  readonly nowMs: Millis;
  readonly capacity: number;
  readonly last: Outcome | undefined;
}

/** The meaning of a step. Times of interest are aimed at exactly, one before and one after. */
export function moveOf([advance, cost, pick]: Step, seen: Seen): Move {
  const mode = cost === 5 || cost === 11 ? "peek" : "commit";
  return { advanceMs: advanceOf(advance, pick, seen), cost: costOf(cost, pick, seen), mode, pick };
}

function advanceOf(advance: number, pick: number, { windowMs, nowMs, last }: Seen): Millis {
  const retryMs = last === undefined || last.retryAfterMs === Infinity ? 0 : last.retryAfterMs;
  const resetMs = last?.resetMs ?? 0;
  const toGridMs = windowMs - (nowMs % windowMs);
  const choices: readonly Millis[] = [
    0,
    1,
    0,
    retryMs,
    retryMs - 1,
    windowMs - 1,
    windowMs,
    windowMs + 1,
    resetMs,
    resetMs - 1,
    toGridMs,
    toGridMs - 1,
    pick % windowMs,
    pick % (3 * windowMs),
    last?.nextMs ?? 0,
    pick % 5,
  ];
  return Math.max(0, choices[advance] ?? 0);
}

function costOf(cost: number, pick: number, { capacity, last }: Seen): number {
  const remaining = last?.remaining ?? capacity;
  const choices: readonly number[] = [
    1,
    1,
    2,
    3,
    0,
    1,
    Math.max(1, remaining),
    remaining + 1,
    capacity,
    capacity + 1,
    1 + (pick % capacity),
    2,
  ];
  return choices[cost] ?? 1;
}
