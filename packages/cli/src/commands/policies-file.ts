import { readFile } from "node:fs/promises";
import type { Policy } from "@headgate/core";
import { policyFileSchema } from "@headgate/core/schema";
import { inputError, messageOf } from "../errors.js";

/** A broken rule of a policy file: where, and what it says. */
export interface PolicyFault {
  readonly path: string;
  readonly message: string;
}

/** A policy file: its policies, or everything that is wrong with it. */
export type PolicyFileReading =
  | { readonly policies: readonly Policy[]; readonly faults?: never }
  | { readonly policies?: never; readonly faults: readonly PolicyFault[] };

/**
 * Reads and checks a policy file.
 *
 * @throws CommandError when it cannot be read
 */
export async function readPolicyFile(file: string): Promise<PolicyFileReading> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw inputError(`${file}: cannot be read: ${messageOf(error)}`, error);
  });
  let content: unknown;
  try {
    content = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    return { faults: [{ path: "", message: `is no JSON: ${messageOf(error)}` }] };
  }
  const { success, data, error } = policyFileSchema.safeParse(content);
  if (success) return { policies: Object.values(data.policies) };
  return {
    faults: error.issues.map(({ path, message }) => ({ path: path.join("."), message })),
  };
}

/**
 * The policies of a file.
 *
 * @throws CommandError with every fault when it has any
 */
export async function policiesOf(file: string): Promise<readonly Policy[]> {
  const { policies, faults } = await readPolicyFile(file);
  if (policies !== undefined) return policies;
  throw inputError([`${file} has faults:`, ...faults.map(faultLine)].join("\n"));
}

/** A fault with its path in front. */
export function faultLine({ path, message }: PolicyFault): string {
  return path === "" ? `  ${message}` : `  ${path}: ${message}`;
}
