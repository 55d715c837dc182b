import { type ChargeReceipt, capacityOf, type HeadgateError, type Outcome } from "@headgate/core";
import { batchFailure, oddReply } from "../failures.js";
import type { Batch, KeyedCharge } from "./batch.js";

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
const numbersOfLeg = 11;

/** @throws HeadgateError `STORE_FAILURE` for a reply that is not the script's */
export function decodeCall(reply: unknown, batches: readonly Batch[]): CallReply {
  if (!Array.isArray(reply)) throw oddReply(reply);
  const [serverMs, late, ...replies] = reply as unknown[];
  if (!isInteger(serverMs) || (late !== 0 && late !== 1)) throw oddReply(reply);
  if (late === 1) return { serverMs, late: true, batches: [] };
  if (replies.length !== batches.length) throw oddReply(reply);
  return {
    serverMs,
    late: false,
    batches: batches.map((batch, index) => decodeBatch(replies[index], batch)),
  };
}

function decodeBatch(reply: unknown, { mode, charges }: Batch): BatchReply {
  if (typeof reply === "string") return batchFailure(reply);
  const width =
    mode === "refund" || mode === "reset" ? 0 : mode === "leg" ? numbersOfLeg : numbersOfOutcome;
  const right =
    Array.isArray(reply) && reply.length === width * charges.length && reply.every(isInteger);
  return right ? (reply as number[]) : oddReply(reply);
}

/** The outcomes of a decided batch. */
export function outcomesOf({ mode, charges }: Batch, numbers: readonly number[]): Outcome[] {
  const width = mode === "leg" ? numbersOfLeg : numbersOfOutcome;
  return charges.map((charge, index) => outcomeOf(charge, numbers, index * width));
}

/** What the charges of a leg met before they were made. */
export function looksOf({ charges }: Batch, numbers: readonly number[]): Outcome[] {
  return charges.map((charge, index) => {
    const from = index * numbersOfLeg;
    const [remaining, resetMs, next] = numbers.slice(from + numbersOfOutcome) as Numbers<3>;
    const outcome = outcomeOf(charge, numbers, from);
    return { ...outcome, remaining, resetMs, nextMs: absentIfNegative(next), receipt: undefined };
  });
}

/** What the outcomes say was taken. */
export function receiptsOf(outcomes: readonly Outcome[]): readonly ChargeReceipt[] {
  return outcomes.flatMap(({ receipt }) => (receipt === undefined ? [] : [receipt]));
}

type Numbers<N extends 3 | 8> = N extends 3
  ? [number, number, number]
  : [number, number, number, number, number, number, number, number];

function outcomeOf(
  { policy, subject, cost }: KeyedCharge,
  numbers: readonly number[],
  from: number,
): Outcome {
  const [allowed, remaining, retryAfterMs, next, resetMs, delayMs, at, mark] = numbers.slice(
    from,
    from + numbersOfOutcome,
  ) as Numbers<8>;
  const receipt: ChargeReceipt | undefined =
    at < 0 ? undefined : { policy, subject, cost, at, mark };
  return {
    policy,
    cost,
    allowed: allowed === 1,
    limit: capacityOf(policy),
    remaining,
    retryAfterMs: retryAfterMs < 0 ? Infinity : retryAfterMs,
    nextMs: absentIfNegative(next),
    resetMs,
    banMs: 0,
    delayMs,
    receipt,
  };
}

function absentIfNegative(number: number): number | undefined {
  return number < 0 ? undefined : number;
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
