import type { Clock } from "@headgate/core";
import { expect, test } from "vitest";
import { redisStore } from "../../src/index.js";
import { freshPrefix, patientMs, useSingleServer } from "../servers/single.js";
import { Differential, plainPolicies, policyFamilies } from "./differential.js";
import { SeededRandom } from "./random.js";

const redis = useSingleServer();
const batches = 12_000;

const deals = { "plain limits": plainPolicies, "policies that share names": policyFamilies };

for (const [what, deal] of Object.entries(deals)) {
  test(`answers ${batches} random batches of ${what} as the memory store does`, async () => {
    const random = new SeededRandom();
    console.log(`differential of ${what}: HEADGATE_SEED=${random.seed}`);
    const prefix = freshPrefix();
    const open = (clock: Clock) =>
      redisStore(redis.client, {
        connection: "shared",
        prefix,
        clock,
        denyCache: false,
        callTimeoutMs: patientMs,
      });
    const differential = new Differential(random, open, deal);
    while (differential.batches < batches) await differential.turn();
    const keys = await redis.client.keys(`${prefix}:*`);
    const ttls = await Promise.all(keys.map((key) => redis.client.pttl(key)));
    expect(Math.min(...ttls)).toBeGreaterThan(0);
  });
}
