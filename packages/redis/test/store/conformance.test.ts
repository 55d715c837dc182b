import { readFileSync } from "node:fs";
import { conformanceCases, type OpenStore, vectorCases } from "@headgate/core/testing";
import { describe, test } from "vitest";
import { redisStore } from "../../src/index.js";
import { freshPrefix, patientMs, useSingleServer } from "../servers/single.js";

const redis = useSingleServer();

const openStore: OpenStore = (clock) =>
  redisStore(redis.client, {
    connection: "shared",
    prefix: freshPrefix(),
    clock,
    callTimeoutMs: patientMs,
    // Remembered refusals keep the verdict and shorten the times, but do not see an allowance grow meanwhile.
    denyCache: false,
  });

describe("the Redis store", () => {
  for (const { name, run } of conformanceCases) test(name, () => run(openStore));
});

const vectors = [
  "fixed-window",
  "fixed-window-first-request",
  "sliding-window",
  "sliding-window-counter",
  "token-bucket",
  "leaky-bucket",
  "batches",
  "refunds",
];

for (const name of vectors) {
  const url = new URL(import.meta.resolve(`@headgate/core/vectors/${name}`));
  describe(`the Redis store on the examples of ${name}`, () => {
    const cases = vectorCases(name, JSON.parse(readFileSync(url, "utf8")));
    for (const { name: sentence, run } of cases) test(sentence, () => run(openStore));
  });
}
