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
  const values: readonly unknown[] = Array.isArray(reply) ? reply : [];
  const decoded: BatchReply[] = [];
  let from = 0;
  for (const { charges } of batches) {
    const first = values[from];
    if (typeof first === "string") {
      decoded.push(chargeAhead(first, nowMs) ?? batchFailure(first));
      from += 1;
      continue;
    }
    const [resetMs, waitMs] = [values[from + 1], values[from + 2]];
    if (!isInteger(first) || !isInteger(resetMs)) return batches.map(() => oddReply(reply));
    if (first >= 0) {
      const mark = markOf((charges[0] as KeyedCharge).policy, { nowMs, resetMs });
      decoded.push([1, first, 0, -1, resetMs, 0, nowMs, mark]);
      from += 2;
      continue;
    }
    if (!isInteger(waitMs)) return batches.map(() => oddReply(reply));
    decoded.push([0, -1 - first, waitMs, -1, resetMs, 0, -1, 0]);
    from += 3;
  }
  return from === values.length ? decoded : batches.map(() => oddReply(reply));
}

/** An admitted charge whose receipt's instant lies ahead of the call's; undefined for any other text. */
function chargeAhead(text: string, nowMs: Millis): BatchReply | undefined {
  if (!/^\d+ \d+ \d+ \d+$/.test(text)) return undefined;
  const [remaining, resetMs, mark, aheadMs] = text.split(" ").map(Number) as [
    number,
    number,
    number,
    number,
  ];
  return [1, remaining, 0, -1, resetMs, 0, nowMs + aheadMs, mark];
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
