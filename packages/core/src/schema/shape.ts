import { z } from "zod";
import { type Duration, durationPattern } from "../policy/duration.js";
import type { KeyBy, KeyParts } from "../policy/policy.js";
import { anchors, failureModes, leastInteger, namePattern, partPattern } from "../policy/rules.js";
import type { PolicyEntry, PolicyFile } from "./policy-entry.js";

// What an editor needs to know of a policy's form, from the tables of policy/rules.ts. It judges nothing:
// whether a policy is right, `policyFaults` alone says.

const part = z.string().regex(partPattern);
const parts: z.ZodType<KeyParts, KeyParts> = z.union([part, z.array(part).min(1)]);
const key: z.ZodType<KeyBy, KeyBy> = z.union([
  parts,
  z.strictObject({ firstOf: z.array(parts).min(1) }),
]);
const duration = z.union([z.int().min(1), z.string().regex(durationPattern)]) as z.ZodType<
  Duration,
  Duration
>;

const common = {
  name: z.exactOptional(z.string().regex(namePattern)),
  limit: z.int().min(leastInteger.limit).describe("Requests per window"),
  window: z.exactOptional(duration).describe('Milliseconds, or text such as "10s", "1m", "24h"'),
  windowMs: z.exactOptional(z.int().min(1)).describe("Milliseconds"),
  by: z
    .exactOptional(key)
    .describe('Whom to count: identity parts, the first that is known, or "global"'),
  onStoreFailure: z.exactOptional(z.enum(failureModes)),
  localShare: z
    .exactOptional(z.number().gt(0).max(1))
    .describe("The share of the limit that one process grants while the store is down"),
};

/** The form of one policy. */
export const policyShape: z.ZodType<PolicyEntry, PolicyEntry> = z
  .discriminatedUnion("algorithm", [
    z.strictObject({
      algorithm: z.literal("fixed-window"),
      ...common,
      anchor: z.exactOptional(z.enum(anchors)),
    }),
    z.strictObject({ algorithm: z.literal("sliding-window"), ...common }),
    z.strictObject({ algorithm: z.literal("sliding-window-counter"), ...common }),
    z.strictObject({
      algorithm: z.literal("token-bucket"),
      ...common,
      burst: z.exactOptional(z.int().min(leastInteger.burst)),
    }),
    z.strictObject({
      algorithm: z.literal("leaky-bucket"),
      ...common,
      queue: z.int().min(leastInteger.queue),
      maxDelayMs: z.exactOptional(z.int().min(leastInteger.maxDelayMs)),
    }),
  ])
  .meta({ allOf: [{ oneOf: [{ required: ["window"] }, { required: ["windowMs"] }] }] });

/** The form of a policy file. */
export const policyFileShape: z.ZodType<PolicyFile, PolicyFile> = z.strictObject({
  $schema: z.exactOptional(z.string()),
  policies: z.record(z.string().regex(namePattern), policyShape),
});
