import { HeadgateError } from "../errors.js";
import type { Policy } from "../policy/policy.js";
import { policyFileSchema } from "./policy-schema.js";

/**
 * The policies of a policy file, ready for `createLimiter`.
 *
 * ```ts
 * const policies = readPolicies(readFileSync("policies.json", "utf8"));
 * ```
 *
 * @param content - the file's text, or what it holds when parsed
 * @throws HeadgateError `INVALID_POLICY` with a line for every fault, each with its path, or for text that is no JSON
 */
export function readPolicies(content: unknown): Readonly<Record<string, Policy>> {
  const read = policyFileSchema.safeParse(typeof content === "string" ? parsed(content) : content);
  if (read.success) return read.data.policies;
  const faults = read.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join(".")}: ${message}`,
  );
  throw new HeadgateError("INVALID_POLICY", `policy file:\n${faults.join("\n")}`);
}

function parsed(text: string): unknown {
  try {
    // As editors on Windows write it.
    return JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (cause) {
    const { message } = cause as SyntaxError;
    throw new HeadgateError("INVALID_POLICY", `policy file: must be JSON: ${message}`, { cause });
  }
}
