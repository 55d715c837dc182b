import { show } from "../errors.js";
import { extension } from "../extension.js";
import { arithmeticFaults } from "./arithmetic.js";
import { durationMs } from "./duration.js";
import type { AlgorithmName, FailureMode, FixedWindow } from "./policy.js";

/** One broken rule: the field, and what the rule says with the value that breaks it. */
export interface Fault {
  readonly path: string;
  readonly message: string;
}

/** What a policy may look like before it is checked: the input of builders, of files, and of `definePolicy`. */
export type PolicyInput = Readonly<Record<string, unknown>>;

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

/** The fields that go beyond a plain limit, with what a plain limit has there. */
export const plainLimit = {
  count: "all",
  onSuccess: "refund",
  debt: 0,
  shadow: false,
  version: 1,
  migrate: "keep",
  penalty: undefined,
  tiers: undefined,
} as const;

/** The fields that each algorithm has beside the common ones. */
export const ownFields: Readonly<Record<AlgorithmName, readonly string[]>> = {
  "fixed-window": ["anchor"],
  "sliding-window": [],
  "sliding-window-counter": [],
  "token-bucket": ["burst"],
  "leaky-bucket": ["queue", "maxDelayMs"],
};

/** The names of all algorithms, in the order in which the documentation treats them. */
const algorithmNames: readonly AlgorithmName[] = Object.keys(ownFields) as AlgorithmName[];

export const failureModes: readonly FailureMode[] = ["local", "open", "closed"];

export const anchors: readonly FixedWindow["anchor"][] = ["clock", "first-request"];

/** The least value of each field that holds an integer. */
export const leastInteger = {
  limit: 1,
  burst: 1,
  queue: 0,
  maxDelayMs: 0,
  debt: 0,
  version: 1,
  after: 1,
} as const;

export const namePattern: RegExp = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** What the parts of an identity may be called. */
export const partPattern: RegExp = /^[A-Za-z][A-Za-z0-9_]{0,31}$/;

/** Every rule that `input` breaks, with the path of the field. An empty list means that it is a policy. */
export function policyFaults(input: PolicyInput): readonly Fault[] {
  const numbers = [
    ...integerFaults(input, "limit", true),
    ...durationFaults(input, "window"),
    ...numberFaults(input),
  ];
  return [
    ...nameFaults(input),
    ...algorithmFaults(input),
    ...choiceFaults(input, "onStoreFailure", failureModes),
    ...choiceFaults(input, "anchor", anchors),
    ...shareFaults(input),
    ...keyFaults(input),
    ...extendedFaults(input),
    ...numbers,
    // Only numbers that are right one by one can be too large together.
    ...(numbers.length === 0 && hasAlgorithm(input) ? arithmeticFaults(input) : []),
  ];
}

/** What is wrong with the numbers that some policies have beside limit and window. */
export function numberFaults(input: PolicyInput): Fault[] {
  return [
    ...integerFaults(input, "burst", false),
    ...integerFaults(input, "queue", input.algorithm === "leaky-bucket"),
    ...integerFaults(input, "maxDelayMs", false),
    ...integerFaults(input, "debt", false),
  ];
}

/** What goes beyond a plain limit. */
function extendedFaults(input: PolicyInput): readonly Fault[] {
  const loaded = extension();
  if (loaded !== undefined) return loaded.faults(input);
  return Object.entries(plainLimit)
    .filter(([field, plain]) => (input[field] ?? plain) !== plain)
    .map(([field]) => ({
      path: field,
      message: `${field} needs import "@headgate/core/policies"`,
    }));
}

export function fault(path: string, rule: string, value: unknown): Fault {
  return { path, message: `${path} ${rule}, got ${show(value)}` };
}

function hasAlgorithm(input: PolicyInput): input is PolicyInput & { algorithm: AlgorithmName } {
  return algorithmNames.includes(input.algorithm as AlgorithmName);
}

function nameFaults({ name }: PolicyInput): Fault[] {
  if (name === undefined || (typeof name === "string" && namePattern.test(name))) return [];
  return [fault("name", "must be a letter and then at most 63 letters, digits, _ or -", name)];
}

/** A wrong algorithm, or a field that the algorithm does not have. */
function algorithmFaults(input: PolicyInput): Fault[] {
  if (!hasAlgorithm(input)) {
    return [fault("algorithm", `must be one of ${algorithmNames.join(", ")}`, input.algorithm)];
  }
  const { algorithm } = input;
  const fields = [...commonFields, ...Object.keys(plainLimit), ...ownFields[algorithm]];
  return Object.keys(input)
    .filter((field) => !fields.includes(field))
    .map((field) => fault(field, `is not an option of ${algorithm}`, input[field]));
}

export function choiceFaults(
  input: PolicyInput,
  field: string,
  choices: readonly unknown[],
): Fault[] {
  const value = input[field];
  if (value === undefined || choices.includes(value)) return [];
  return [fault(field, `must be one of ${choices.join(", ")}`, value)];
}

function shareFaults({ localShare }: PolicyInput): Fault[] {
  const isShare = typeof localShare === "number" && localShare > 0 && localShare <= 1;
  if (localShare === undefined || isShare) return [];
  return [fault("localShare", "must be above 0 and at most 1", localShare)];
}

function keyFaults({ by }: PolicyInput): Fault[] {
  if (by === undefined || isParts(by) || isChoice(by)) return [];
  const rule =
    'must be an identity part such as "user", a list of different parts, { firstOf: [...] } or "global"';
  return [fault("by", rule, by)];
}

function isChoice(by: unknown): boolean {
  if (typeof by !== "object" || by === null || Object.keys(by).join() !== "firstOf") return false;
  const { firstOf } = by as { firstOf: unknown };
  return Array.isArray(firstOf) && firstOf.length > 0 && [...firstOf].every(isParts);
}

function isParts(parts: unknown): boolean {
  if (!Array.isArray(parts)) return isPart(parts);
  const different = new Set(parts).size === parts.length && !parts.includes("global");
  return parts.length > 0 && different && [...parts].every(isPart);
}

function isPart(part: unknown): boolean {
  return typeof part === "string" && partPattern.test(part);
}

/** A time that is given as a duration, or in ms under a name that says so. */
export function durationFaults(input: PolicyInput, field: "window" | "within" | "ban"): Fault[] {
  const [value, inMs] = [input[field], input[`${field}Ms`]];
  if (value !== undefined && inMs !== undefined) {
    const message = `${field} and ${field}Ms say the same thing: give one of them`;
    return [{ path: field, message }];
  }
  const rule = "must be a positive whole number of milliseconds";
  if (inMs !== undefined) return isWindow(inMs) ? [] : [fault(`${field}Ms`, rule, inMs)];
  if (isWindow(durationMs(value))) return [];
  return [fault(field, `${rule}, or text like "10s", "1m", "24h"`, value)];
}

function isWindow(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

export function integerFaults(
  input: PolicyInput,
  field: keyof typeof leastInteger,
  required: boolean,
): Fault[] {
  const value = input[field];
  if (value === undefined && !required) return [];
  const least = leastInteger[field];
  if (Number.isSafeInteger(value) && (value as number) >= least) return [];
  const rule = least === 1 ? "must be a positive integer" : `must be an integer from ${least}`;
  return [fault(field, rule, value)];
}
