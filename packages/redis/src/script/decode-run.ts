import type { Millis, Policy } from "@headgate/core";
import { batchFailure, oddReply } from "../failures.js";
import type { Batch, KeyedCharge } from "./batch.js";
import type { BatchReply } from "./decode.js";

const numbersOfOutcome = 8;

/** The batches of a run, with the numbers that each would have had by itself. */
export function decodeRun(
  reply: unknown,
  batches: readonly Batch[],
  nowMs: Millis,
): readonly BatchReply[] {
  const lines = typeof reply === "string" ? reply.split("\n") : [];
  if (lines.length !== batches.length) return batches.map(() => oddReply(reply));
  return batches.map(({ charges }, index) => {
    const line = lines[index] as string;
    const [charge] = charges as readonly [KeyedCharge];
    return charges.length === 1
      ? decodeLineOfOne(line, charge.policy, nowMs)
      : decodeLine(line, charges, nowMs);
  });
}

/** Nearly all lines are two numbers, and need no list of them. */
function decodeLineOfOne(line: string, policy: Policy, nowMs: Millis): BatchReply {
  const second = line.indexOf(" ") + 1;
  if (second > 0 && !line.includes(" ", second)) {
    const remaining = Number(line.slice(0, second));
    const resetMs = Number(line.slice(second));
    if (isCount(remaining) && isCount(resetMs))
      return [1, remaining, 0, -1, resetMs, 0, nowMs, markOf(policy, { nowMs, resetMs })];
  }
  return decodeOtherLine(line, 1);
}

function decodeLine(line: string, charges: readonly KeyedCharge[], nowMs: Millis): BatchReply {
  const told = line.split(" ").map(Number);
  if (told.length !== 2 * charges.length || !told.every(isCount))
    return decodeOtherLine(line, charges.length);
  return charges.flatMap(({ policy }, index) => {
    const remaining = told[2 * index] as number;
    const resetMs = told[2 * index + 1] as number;
    return [1, remaining, 0, -1, resetMs, 0, nowMs, markOf(policy, { nowMs, resetMs })];
  });
}

/** What did not go the straight way: all numbers of a batch, or why there was no decision. */
function decodeOtherLine(line: string, charges: number): BatchReply {
  if (!line.startsWith("=")) return /^[-\d. ]*$/.test(line) ? oddReply(line) : batchFailure(line);
  const numbers = line.slice("= ".length).split(" ").map(Number);
  return numbers.length === numbersOfOutcome * charges && numbers.every(isInteger)
    ? numbers
    : oddReply(line);
}

/** The mark of a charge that was made at the call's own instant. */
function markOf(
  { algorithm, windowMs }: Policy,
  { nowMs, resetMs }: { nowMs: Millis; resetMs: Millis },
): number {
  switch (algorithm) {
    case "fixed-window":
      return nowMs + resetMs - windowMs;
    case "sliding-window-counter":
      return Math.floor(nowMs / windowMs);
    default:
      return 0;
  }
}

export function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function isCount(value: number): boolean {
  return isInteger(value) && value >= 0;
}
