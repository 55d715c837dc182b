import {
  type ChargeReceipt,
  capacityOf,
  type HeadgateError,
  type Millis,
  type Outcome,
  type Policy,
} from "@headgate/core";
import { batchFailure, oddReply } from "../failures.js";
import type { Batch, BatchMode, KeyedCharge } from "./batch.js";
import { decodeRun, isInteger } from "./decode-run.js";
import type { Part } from "./runs.js";

/** A batch's numbers, or why it was not decided. */
export type BatchReply = readonly number[] | HeadgateError;

export interface CallReply {
  /** The server's own time when the script ran. */
  readonly serverMs: number;
  /** Whether the call came too late and did nothing. */
  readonly late: boolean;
  readonly batches: readonly BatchReply[];
}

const numbersOfOutcome = 8;
const numbersOfLook = 3;

/**
 * @param nowMs - the injected instant that the call ran at, if there was one
 * @throws HeadgateError `STORE_FAILURE` for a reply that is not the script's
 */
export function decodeCall(
  reply: unknown,
  parts: readonly Part[],
  nowMs: Millis | undefined,
): CallReply {
  if (!Array.isArray(reply)) throw oddReply(reply);
  const [serverMs, late, ...replies] = reply as unknown[];
  if (!isInteger(serverMs) || (late !== 0 && late !== 1)) throw oddReply(reply);
  if (late === 1) return { serverMs, late: true, batches: [] };
  if (replies.length !== parts.length) throw oddReply(reply);
  const decoded: BatchReply[] = [];
  for (const [index, { batches, isRun }] of parts.entries()) {
    if (isRun) decoded.push(...decodeRun(replies[index], batches, nowMs ?? serverMs));
    else for (const batch of batches) decoded.push(decodeBatch(replies[index], batch));
  }
  return { serverMs, late: false, batches: decoded };
}

function decodeBatch(reply: unknown, batch: Batch): BatchReply {
  if (typeof reply === "string") return batchFailure(reply);
  const { mode, charges } = batch;
  let length = 0;
  for (const { policy } of charges) length += widthOf(mode, policy);
  if (!Array.isArray(reply) || reply.length !== length) return oddReply(reply);
  const right = mode === "bans" ? reply.every(isNumberOrText) : reply.every(isInteger);
  return right ? (reply as number[]) : oddReply(reply);
}

/** How many values the reply has for a charge. */
function widthOf(mode: BatchMode, { penalty }: Policy): number {
  const banned = penalty === undefined ? 0 : 1;
  switch (mode) {
    case "commit":
    case "peek":
      return numbersOfOutcome + banned;
    case "leg":
      return numbersOfOutcome + numbersOfLook + banned;
    case "settle":
      return numbersOfOutcome + 1 + banned;
    case "bans":
      return 2;
    case "refund":
    case "reset":
    case "reset-but-bans":
    case "strike":
    case "ban":
      return 0;
  }
}

/** The outcomes of a decided batch. */
export function outcomesOf({ mode, charges }: Batch, numbers: readonly number[]): Outcome[] {
  let from = 0;
  return charges.map((charge) => {
    const outcome = outcomeOf(charge, mode, numbers, from);
    from += widthOf(mode, charge.policy);
    return outcome;
  });
}

/** What the charges of a leg met before they were made. */
export function looksOf({ mode, charges }: Batch, numbers: readonly number[]): Outcome[] {
  let from = 0;
  return charges.map((charge) => {
    const [remaining, resetMs, next] = numbers.slice(from + numbersOfOutcome) as [
      number,
      number,
      number,
    ];
    const outcome = outcomeOf(charge, mode, numbers, from);
    from += widthOf(mode, charge.policy);
    return { ...outcome, remaining, resetMs, nextMs: absentIfNegative(next), receipt: undefined };
  });
}

/** When the bans of a batch's subjects end, 0 where there is none, and those subjects that keys do not show. */
export function banEndsOf(
  { charges }: Batch,
  values: readonly (number | string)[],
): readonly { readonly endsInMs: Millis; readonly subject: string }[] {
  return charges.map(({ subject }, index) => ({
    endsInMs: values[2 * index] as number,
    subject: (values[2 * index + 1] as string).slice(1) || subject,
  }));
}

/** What the outcomes say was taken. */
export function receiptsOf(outcomes: readonly Outcome[]): readonly ChargeReceipt[] {
  return outcomes.flatMap(({ receipt }) => (receipt === undefined ? [] : [receipt]));
}

function outcomeOf(
  { policy, subject, cost: asked }: KeyedCharge,
  mode: BatchMode,
  numbers: readonly number[],
  from: number,
): Outcome {
  const number = (place: number): number => numbers[from + place] as number;
  const cost = mode === "settle" ? number(numbersOfOutcome) : asked;
  const retryAfterMs = number(2);
  const at = number(6);
  return {
    policy,
    cost,
    allowed: number(0) === 1,
    limit: capacityOf(policy),
    remaining: number(1),
    retryAfterMs: retryAfterMs < 0 ? Infinity : retryAfterMs,
    nextMs: absentIfNegative(number(3)),
    resetMs: number(4),
    banMs: policy.penalty === undefined ? 0 : number(widthOf(mode, policy) - 1),
    delayMs: number(5),
    receipt: at < 0 ? undefined : { policy, subject, cost, at, mark: number(7) },
  };
}

function absentIfNegative(number: number): number | undefined {
  return number < 0 ? undefined : number;
}

function isNumberOrText(value: unknown, at: number): boolean {
  return at % 2 === 0 ? isInteger(value) : typeof value === "string";
}
