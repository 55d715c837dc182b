import { z } from "zod";
import { definePolicy, defineUnnamed } from "../policy/define.js";
import type { Policy, PolicyDefinition } from "../policy/policy.js";
import { type Fault, type PolicyInput, policyFaults } from "../policy/rules.js";
import type { PolicyEntry, PolicyFile } from "./policy-entry.js";
import { policyFileShape } from "./shape.js";

/**
 * Parses one policy given as data into what its builder returns: checked, with defaults, frozen. Every
 * broken rule is an issue with the field's path and the message that a builder would throw.
 */
export const policySchema: z.ZodType<PolicyDefinition, PolicyEntry> = z
  .custom<PolicyEntry>(isRecord, "a policy must be an object")
  .transform((entry, context) => {
    const input: PolicyInput = { ...entry };
    const faults = policyFaults(input);
    if (faults.length === 0) return defineUnnamed(input);
    report(context, faults, []);
    return z.NEVER;
  });

/**
 * Parses the content of a policy file, `{ "policies": { name: policy } }`, into policies under their
 * names, ready for `createLimiter`. Issues are those of `policySchema`, below `policies` and the name.
 */
export const policyFileSchema: z.ZodType<
  { readonly policies: Readonly<Record<string, Policy>> },
  PolicyFile
> = z
  .custom<PolicyFile>(isRecord, "a policy file must be an object")
  .transform(({ policies, $schema, ...others }, context) => {
    const issues = context.issues.length;
    for (const field of Object.keys(others))
      report(context, [{ path: field, message: `${field} is not an option of a policy file` }], []);
    const named = isRecord(policies) ? namedPolicies(policies, context) : {};
    if (Object.keys(named).length === 0 && context.issues.length === issues)
      report(
        context,
        [{ path: "policies", message: "policies must be an object with at least one policy" }],
        [],
      );
    return context.issues.length > issues ? z.NEVER : Object.freeze({ policies: named });
  });

/** The JSON Schema of policy files, for editors. It knows the form; only parsing checks every rule. */
export function policyFileJsonSchema(): Readonly<Record<string, unknown>> {
  return z.toJSONSchema(policyFileShape, { io: "input" });
}

type Context = z.core.$RefinementCtx;

function namedPolicies(
  policies: Readonly<Record<string, unknown>>,
  context: Context,
): Readonly<Record<string, Policy>> {
  const named: Record<string, Policy> = {};
  for (const [name, entry] of Object.entries(policies)) {
    const path = ["policies", name];
    if (!isRecord(entry)) {
      context.issues.push({
        code: "custom",
        path,
        message: `policy "${name}" must be an object`,
        input: entry,
      });
      continue;
    }
    const faults = policyFaults({ ...entry, name });
    if (faults.length === 0) named[name] = definePolicy(name, entry);
    else report(context, faults, path);
  }
  return Object.freeze(named);
}

function report(context: Context, faults: readonly Fault[], above: readonly string[]): void {
  for (const { path, message } of faults)
    context.issues.push({
      code: "custom",
      path: [...above, ...path.split(".")],
      message,
      input: context.value,
    });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
