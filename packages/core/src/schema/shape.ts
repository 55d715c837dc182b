import { z } from "zod";
import { counted, migrationRules, penaltyTriggers } from "../policies/rules.js";
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

const penalty = z.strictObject({
  on: z.exactOptional(z.enum(penaltyTriggers)).describe("What counts towards a ban"),
  after: z.exactOptional(z.int().min(leastInteger.after)).describe("How many lead to a ban"),
  within: z.exactOptional(duration).describe("How long they are remembered, from the first on"),
  withinMs: z.exactOptional(z.int().min(1)).describe("Milliseconds, in place of within"),
  ban: z.exactOptional(duration).describe("How long the ban lasts"),
  banMs: z.exactOptional(z.int().min(1)).describe("Milliseconds, in place of ban"),
});

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
  count: z
    .exactOptional(z.enum(counted))
    .describe("Which requests stay counted, once it is known how they went"),
  onSuccess: z
    .exactOptional(z.enum(["refund", "clear"]))
    .describe("What a success does when failures are counted"),
  penalty: z.exactOptional(penalty).describe("A ban after too many refusals, or failures"),
  debt: z
    .exactOptional(z.int().min(leastInteger.debt))
    .describe("How far beyond the capacity work may be charged that is priced afterwards"),
  shadow: z.exactOptional(z.boolean()).describe("Decided and reported, never enforced"),
  version: z.exactOptional(z.int().min(leastInteger.version)).describe("Raised with each change"),
  migrate: z
    .exactOptional(z.enum(migrationRules))
    .describe("What happens to live counts of a lower version"),
};

/** Other numbers by tier: a limit, and what else an algorithm has that a tier may change. */
function tiersOf<Numbers extends z.ZodRawShape>(
  numbers: Numbers,
): z.ZodExactOptional<z.ZodRecord<z.ZodString, z.ZodObject<{ limit: z.ZodInt } & Numbers>>> {
  const shape = z.strictObject({ limit: z.int().min(leastInteger.limit), ...numbers });
  return z.exactOptional(z.record(z.string().regex(partPattern), shape)) as never;
}

const burst = z.exactOptional(z.int().min(leastInteger.burst));
const queue = z.int().min(leastInteger.queue);

/** The form of one policy. */
export const policyShape: z.ZodType<PolicyEntry, PolicyEntry> = z
  .discriminatedUnion("algorithm", [
    z.strictObject({
      algorithm: z.literal("fixed-window"),
      ...common,
      tiers: tiersOf({}),
      anchor: z.exactOptional(z.enum(anchors)),
    }),
    z.strictObject({ algorithm: z.literal("sliding-window"), ...common, tiers: tiersOf({}) }),
    z.strictObject({
      algorithm: z.literal("sliding-window-counter"),
      ...common,
      tiers: tiersOf({}),
    }),
    z.strictObject({
      algorithm: z.literal("token-bucket"),
      ...common,
      burst,
      tiers: tiersOf({ burst }),
    }),
    z.strictObject({
      algorithm: z.literal("leaky-bucket"),
      ...common,
      queue,
      tiers: tiersOf({ queue: z.exactOptional(queue) }),
      maxDelayMs: z.exactOptional(z.int().min(leastInteger.maxDelayMs)),
    }),
  ])
  .meta({ allOf: [{ oneOf: [{ required: ["window"] }, { required: ["windowMs"] }] }] });

/** The form of a policy file. */
export const policyFileShape: z.ZodType<PolicyFile, PolicyFile> = z.strictObject({
  $schema: z.exactOptional(z.string()),
  policies: z.record(z.string().regex(namePattern), policyShape),
});
