import { rateLimits } from "@headgate/express";
import express from "express";
import { describe } from "vitest";
import { describeEndings } from "../../../express/test/endings-suite.js";
import { redisStore } from "../../src/index.js";
import { freshPrefix, patientMs, useSingleServer } from "../servers/single.js";

const redis = useSingleServer();

describe.each([true, false])("with a memory of refusals: %s", (denyCache) => {
  describeEndings({
    framework: express,
    rateLimits,
    storeOf: (clock) =>
      redisStore(redis.client, {
        connection: "shared",
        prefix: freshPrefix(),
        callTimeoutMs: patientMs,
        clock,
        denyCache,
      }),
  });
});
