import type { Millis, Policy } from "@headgate/core";
import { batchFailure, oddReply } from "../failures.js";
import type { Batch, KeyedCharge } from "./batch.js";
import type { BatchReply } from "./decode.js";

/** The batches of a run, with the numbers that each would have had by itself. */
export function decodeRun(
  reply: unknown,
  batches: readonly Batch[],
  nowMs: Millis,
): readonly BatchReply[] {
  const lines = typeof reply === "string" ? reply.split("\n") : [];
  if (lines.length !== batches.length) return batches.map(() => oddReply(reply));
  return batches.map(({ charges }, index) => {
    const { policy } = charges[0] as KeyedCharge;
    return decodeLine(lines[index] as string, policy, nowMs);
  });
}

/** What a line tells; nearly all are two numbers, and need no list of them. */
function decodeLine(line: string, policy: Policy, nowMs: Millis): BatchReply {
  const second = line.indexOf(" ") + 1;
  if (second > 0 && !line.includes(" ", second)) {
    const remaining = Number(line.slice(0, second));
    const resetMs = Number(line.slice(second));
    if (isInteger(remaining) && remaining >= 0 && isInteger(resetMs))
      return [1, remaining, 0, -1, resetMs, 0, nowMs, markOf(policy, { nowMs, resetMs })];
  }
  return decodeRareLine(line, nowMs);
}

/** A refusal, a charge whose receipt's instant lies ahead of the call's, or why there was no decision. */
function decodeRareLine(line: string, nowMs: Millis): BatchReply {
  if (!/^[-\d. ]*$/.test(line)) return batchFailure(line);
  const numbers = line.split(" ").map(Number);
  const [first, resetMs, third, aheadMs] = numbers as [number, number, number, number];
  if (!numbers.every(isInteger)) return oddReply(line);
  if (numbers.length === 3 && first < 0) return [0, -1 - first, third, -1, resetMs, 0, -1, 0];
  if (numbers.length === 4 && first >= 0)
    return [1, first, 0, -1, resetMs, 0, nowMs + aheadMs, third];
  return oddReply(line);
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
