export type { PolicyEntry, PolicyFile } from "./policy-entry.js";
export { policyFileJsonSchema, policyFileSchema, policySchema } from "./policy-schema.js";
