/** The closed set of things that can go wrong. A refusal is not among them: it is a value. */
export type ErrorCode =
  | "INVALID_POLICY"
  | "INVALID_OPTION"
  | "INVALID_IDENTITY"
  | "INVALID_CHARGE"
  | "INVALID_CLOCK"
  | "UNKNOWN_POLICY"
  | "POLICY_CONFLICT"
  | "STORE_FAILURE"
  | "STORE_KEY_FAILURE"
  | "STORE_TIMEOUT"
  | "STORE_CIRCUIT_OPEN";

/**
 * The one error class of Headgate: broken configuration, a wrong argument, or a failed store.
 * `code` says which; `cause` keeps what a client library threw.
 */
export class HeadgateError extends Error {
  override readonly name = "HeadgateError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** A value as an error message shows it: short, and unable to throw. */
export function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 60));
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  return Array.isArray(value) ? `an array of ${value.length}` : "an object";
}

/** The error for an option that breaks a rule, such as `createLimiter: deadlineMs must be …, got 0`. */
export function invalidOption(caller: string, rule: string, value: unknown): HeadgateError {
  return new HeadgateError("INVALID_OPTION", `${caller}: ${rule}, got ${show(value)}`);
}

/**
 * Refuses options that are no object, and any that is not known: a misspelt one must not be ignored.
 *
 * @throws HeadgateError `INVALID_OPTION`
 */
export function checkOptions(caller: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== "object" || options === null)
    throw invalidOption(caller, "options must be an object", options);
  for (const [option, value] of Object.entries(options)) {
    if (known.includes(option)) continue;
    throw invalidOption(caller, `${option} is not an option (known: ${known.join(", ")})`, value);
  }
}
