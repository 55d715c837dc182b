import { definePolicy } from "../../policy/define.js";
import type { Policy } from "../../policy/policy.js";

/** A policy of each algorithm, both anchors, that admits five calls at one instant. */
export function policiesOfFive(): readonly Policy[] {
  const rule = { limit: 5, window: "1m" };
  return [
    definePolicy("fixed", { ...rule, algorithm: "fixed-window" }),
    definePolicy("anchored", { ...rule, algorithm: "fixed-window", anchor: "first-request" }),
    definePolicy("log", { ...rule, algorithm: "sliding-window" }),
    definePolicy("counter", { ...rule, algorithm: "sliding-window-counter" }),
    definePolicy("bucket", { ...rule, algorithm: "token-bucket" }),
    definePolicy("queue", { ...rule, algorithm: "leaky-bucket", queue: 4, maxDelayMs: 60_000 }),
  ];
}

/** A fixed window of a minute. */
export function windowOf(name: string, limit: number): Policy {
  return definePolicy(name, { algorithm: "fixed-window", limit, window: "1m" });
}

/** Policy names that are members of `Object.prototype`, or nearly keys of another kind. */
export const nastyNames: readonly string[] = [
  "constructor",
  "toString",
  "hasOwnProperty",
  "valueOf",
  "x-y_z",
];

/** Subjects that a careless store confuses, splits, shortens or trips over; all different. */
export const nastySubjects: readonly string[] = [
  "__proto__",
  "constructor",
  "toString",
  "a",
  "A",
  "a:b",
  "a:b:c",
  "a b",
  " a",
  "a ",
  "a\n",
  "a\r\n",
  "a\t",
  "a\u0000",
  "a\u0000b",
  "a\u200b",
  "\u200b",
  "\u200b\u200b",
  "\u00e9",
  "e\u0301",
  "*",
  "{a}",
  "{}",
  "{a}:b",
  "a}",
  "%61",
  "$& $1 $$",
  '"',
  "'",
  "\\",
  "null",
  "undefined",
  "0",
  "-0",
  "1e3",
  "\u{1f600}",
  "\ufffd",
  "x".repeat(10_240),
  `${"x".repeat(10_239)}y`,
  `y${"x".repeat(10_239)}`,
];

/** Subjects that differ in a lone surrogate alone: as UTF-8 they are all the same. */
export const loneSurrogates: readonly string[] = ["a\ud800", "a\ud801", "a\udc00", "a\ufffd"];
