import { expect, test } from "vitest";
import { redisStore } from "../../src/index.js";
import { freshPrefix, patientMs, useSingleServer } from "../servers/single.js";
import { Differential } from "./differential.js";
import { SeededRandom } from "./random.js";

const redis = useSingleServer();
const batches = 12_000;

test(`answers ${batches} random batches as the memory store does`, async () => {
  const random = new SeededRandom();
  console.log(`differential: HEADGATE_SEED=${random.seed}`);
  const prefix = freshPrefix();
  const differential = new Differential(random, (clock) =>
    redisStore(redis.client, {
      connection: "shared",
      prefix,
      clock,
      denyCache: false,
      callTimeoutMs: patientMs,
    }),
  );
  while (differential.batches < batches) await differential.turn();
  const keys = await redis.client.keys(`${prefix}:*`);
  const ttls = await Promise.all(keys.map((key) => redis.client.pttl(key)));
  expect(Math.min(...ttls)).toBeGreaterThan(0);
});
