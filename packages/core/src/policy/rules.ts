import { show } from "../errors.js";
import { durationMs } from "./duration.js";
import type { AlgorithmName } from "./policy.js";

/** One broken rule: where, what the rule says, and the value that breaks it. */
export interface Fault {
  readonly path: string;
  readonly message: string;
}

/** What a policy may look like before it is checked: the input of builders, of files, and of `definePolicy`. */
export type PolicyInput = Readonly<Record<string, unknown>>;

/** Longest hold that a leaky bucket may ask for unless the policy says otherwise. */
export const defaultMaxDelayMs = 10_000;

const longestTimerMs = 2 ** 31 - 1;
const namePattern = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const partPattern = /^[A-Za-z][A-Za-z0-9_]{0,31}$/;

const commonFields = [
  "name",
  "algorithm",
  "limit",
  "window",
  "windowMs",
  "by",
  "onStoreFailure",
  "localShare",
];

/** The fields that each algorithm has beside the common ones. */
const ownFields: Readonly<Record<AlgorithmName, readonly string[]>> = {
  "fixed-window": ["anchor"],
  "sliding-window": [],
  "sliding-window-counter": [],
  "token-bucket": ["burst"],
  "leaky-bucket": ["queue", "maxDelayMs"],
};

/** The names of all algorithms, in the order in which the documentation treats them. */
export const algorithmNames: readonly AlgorithmName[] = Object.keys(ownFields) as AlgorithmName[];

/** Every rule that `input` breaks, with the path of the field. An empty list means that it is a policy. */
export function policyFaults(input: PolicyInput): readonly Fault[] {
  const faults: Fault[] = [];
  const fault = (path: string, rule: string, value: unknown): void => {
    faults.push({ path, message: `${path} ${rule}, got ${show(value)}` });
  };
  const integer = (path: string, from: number, value: unknown): value is number => {
    if (Number.isSafeInteger(value) && (value as number) >= from) return true;
    fault(
      path,
      from === 1 ? "must be a positive integer" : `must be an integer from ${from}`,
      value,
    );
    return false;
  };
  const oneOf = (path: string, allowed: readonly string[]): void => {
    const value = input[path];
    if (value !== undefined && !allowed.includes(value as string))
      fault(path, `must be one of ${allowed.join(", ")}`, value);
  };

  const { algorithm, name, by, localShare, window } = input;
  if (name !== undefined && !(typeof name === "string" && namePattern.test(name))) {
    fault("name", "must be a letter and then at most 63 letters, digits, _ or -", name);
  }
  if (window !== undefined && input.windowMs !== undefined) {
    faults.push({
      path: "window",
      message: "window and windowMs say the same thing: give one of them",
    });
  }
  const known = Object.hasOwn(ownFields, algorithm as string);
  if (!known) fault("algorithm", `must be one of ${algorithmNames.join(", ")}`, algorithm);
  for (const field of Object.keys(input)) {
    if (
      commonFields.includes(field) ||
      !known ||
      ownFields[algorithm as AlgorithmName].includes(field)
    )
      continue;
    fault(field, `is not an option of ${algorithm}`, input[field]);
  }
  oneOf("onStoreFailure", ["local", "open", "closed"]);
  oneOf("anchor", ["clock", "first-request"]);
  if (
    localShare !== undefined &&
    !(typeof localShare === "number" && localShare > 0 && localShare <= 1)
  ) {
    fault("localShare", "must be above 0 and at most 1", localShare);
  }
  if (by !== undefined) checkKey(by, fault);

  const windowField = window === undefined ? "windowMs" : "window";
  const windowMs = durationMs(input[windowField]);
  let whole = integer("limit", 1, input.limit);
  if (windowMs === undefined || !(Number.isSafeInteger(windowMs) && windowMs >= 1)) {
    fault(
      windowField,
      'must be a positive whole number of milliseconds, or text like "10s", "1m", "24h"',
      input[windowField],
    );
    whole = false;
  }
  if (input.burst !== undefined) whole = integer("burst", 1, input.burst) && whole;
  if (algorithm === "leaky-bucket") {
    whole = integer("queue", 0, input.queue) && whole;
    if (input.maxDelayMs !== undefined) whole = integer("maxDelayMs", 0, input.maxDelayMs) && whole;
  }
  if (known && whole && windowMs !== undefined) checkArithmetic(input, windowMs, faults);
  return faults;
}

function checkKey(by: unknown, fault: (path: string, rule: string, value: unknown) => void): void {
  const isName = (part: unknown): boolean => typeof part === "string" && partPattern.test(part);
  const isParts = (parts: unknown): boolean =>
    isName(parts) ||
    (Array.isArray(parts) &&
      parts.length > 0 &&
      parts.every((part) => isName(part) && part !== "global") &&
      new Set(parts).size === parts.length);
  const firstOf =
    typeof by === "object" && by !== null && !Array.isArray(by)
      ? (by as Record<string, unknown>).firstOf
      : undefined;
  const choice =
    Array.isArray(firstOf) &&
    firstOf.length > 0 &&
    firstOf.every(isParts) &&
    Object.keys(by as object).length === 1;
  if (!choice && !isParts(by)) {
    fault(
      "by",
      'must be an identity part such as "user", a list of different parts, { firstOf: [...] } or "global"',
      by,
    );
  }
}

/** The products that decisions compute must stay exact: below 2^53. */
function checkArithmetic(input: PolicyInput, windowMs: number, faults: Fault[]): void {
  const limit = input.limit as number;
  const bound = (field: string, value: number, factor: number, extra = 0): void => {
    const largest = Math.floor(Number.MAX_SAFE_INTEGER / factor) - extra;
    if (value <= largest) return;
    const room = largest < 1 - extra ? "there is none: shorten the window" : `at most ${largest}`;
    faults.push({
      path: field,
      message: `${field} is too large for exact arithmetic with this window (${room}), got ${value}`,
    });
  };
  switch (input.algorithm as AlgorithmName) {
    case "fixed-window":
    case "sliding-window":
      bound("limit", limit, 2);
      break;
    case "sliding-window-counter":
      bound("limit", limit, 2);
      bound("limit", limit, windowMs);
      break;
    case "token-bucket":
      if (input.burst === undefined) bound("limit", limit, 2 * windowMs);
      else bound("burst", input.burst as number, 2 * windowMs);
      break;
    case "leaky-bucket":
      bound("queue", input.queue as number, 2 * windowMs, 1);
      checkHold(input, windowMs, faults);
  }
}

/** A queue must not be able to hold a request for longer than the policy and a timer allow. */
function checkHold(input: PolicyInput, windowMs: number, faults: Fault[]): void {
  const queue = input.queue as number;
  const maxDelayMs = (input.maxDelayMs as number | undefined) ?? defaultMaxDelayMs;
  if (maxDelayMs > longestTimerMs) {
    faults.push({
      path: "maxDelayMs",
      message: `maxDelayMs must be at most ${longestTimerMs}, got ${maxDelayMs}`,
    });
  }
  const longestMs = Math.ceil((queue * windowMs) / (input.limit as number));
  if (longestMs > maxDelayMs) {
    faults.push({
      path: "queue",
      message: `queue would hold a request for ${longestMs} ms, longer than maxDelayMs ${maxDelayMs}, got ${queue}`,
    });
  }
}
