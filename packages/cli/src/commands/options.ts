import { type ParseArgsConfig, parseArgs } from "node:util";
import { type Duration, fixedWindow, type Millis } from "@headgate/core";
import { messageOf, usageError } from "../errors.js";
import { type ClientNames, hashedNames, plainNames } from "../replay/client-names.js";
import { type EndingRule, endingByField, endingByStatus } from "../replay/endings.js";

type Options = NonNullable<ParseArgsConfig["options"]>;

/** The options of every command that reads logs. */
export const readingOptions = {
  field: { type: "string", multiple: true },
  reorder: { type: "string" },
  "max-keys": { type: "string" },
  json: { type: "boolean" },
  html: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

/** What the help says of them. */
export const readingHelp = `  --field NAME=FIELD   the field of an identity part or of the time, where it has another name,
                       such as account=user or ip=req.remoteAddress (again for more)
  --reorder 1m         how far out of order lines may be (default 1m)
  --max-keys N         the most clients that a policy's store holds (default 1000000)
  --json               print everything as JSON
  --html FILE          write a page with charts as well

Logs are in the common or combined log format, or JSON lines, and may be packed by gzip.
`;

/**
 * Parses the arguments of a command.
 *
 * @throws CommandError for an option that is not known, or has no value
 */
export function parsed<const O extends Options>(
  args: readonly string[],
  options: O,
): ReturnType<
  typeof parseArgs<{ options: O; allowPositionals: true; strict: true; args: string[] }>
> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw usageError(messageOf(error));
  }
}

/** A whole number from 1. */
export function positiveInteger(option: string, text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= 1) return value;
  throw usageError(`--${option} must be a positive integer, got ${JSON.stringify(text)}`);
}

/** A duration such as `1m`; the rule is that of policies. */
export function duration(option: string, text: string): Millis {
  try {
    return fixedWindow({ limit: 1, window: text as Duration }).windowMs;
  } catch {
    throw usageError(
      `--${option} must be a duration such as "10s", "1m", "24h", got ${JSON.stringify(text)}`,
    );
  }
}

/** A duration that may be 0. */
export function durationOrNone(option: string, text: string): Millis {
  return /^0(?:ms|s|m|h|d)?$/.test(text) ? 0 : duration(option, text);
}

/** `--field account=user`: where identity parts are, and the time. */
export function fieldMap(fields: readonly string[] = []): ReadonlyMap<string, string> {
  return new Map(fields.map((text) => pair("field", text)));
}

/** `--failed ok=false` or `--failed status=401,403`: which requests failed. Without it, the status tells. */
export function endingRule(failed: string | undefined): EndingRule {
  if (failed === undefined) return endingByStatus;
  const [field, values] = pair("failed", failed);
  return endingByField(field, values.split(","));
}

/** How clients are called in the output. */
export function clientNames(shown: boolean | undefined, salt: string | undefined): ClientNames {
  return shown === true ? plainNames : hashedNames(salt);
}

function pair(option: string, text: string): [string, string] {
  const at = text.indexOf("=");
  if (at > 0 && at < text.length - 1) return [text.slice(0, at), text.slice(at + 1)];
  throw usageError(`--${option} must be NAME=VALUE, got ${JSON.stringify(text)}`);
}
