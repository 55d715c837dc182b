// Files may hold policies that go beyond plain limits.
import "../policies/index.js";

export type { PolicyEntry, PolicyFile } from "./policy-entry.js";
export { policyFileJsonSchema, policyFileSchema, policySchema } from "./policy-schema.js";
export { readPolicies } from "./read-policies.js";
