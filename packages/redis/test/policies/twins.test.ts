import { test } from "vitest";
import { redisStore } from "../../src/index.js";
import { freshPrefix, patientMs, useSingleServer } from "../servers/single.js";
import { SeededRandom } from "../store/random.js";
import { Twins } from "./twins.js";

const redis = useSingleServer();
const games = 150;
const turns = 40;

test(`a limiter over Redis answers ${games} random games as one in memory does, and both keep their promises`, async () => {
  const random = new SeededRandom();
  console.log(`twins: HEADGATE_SEED=${random.seed}`);
  for (let game = 0; game < games; game += 1) {
    const twins = new Twins(random, (clock) =>
      redisStore(redis.client, {
        connection: "shared",
        prefix: freshPrefix(),
        clock,
        denyCache: false,
        callTimeoutMs: patientMs,
      }),
    );
    for (let turn = 0; turn < turns; turn += 1) await twins.turn();
  }
});
