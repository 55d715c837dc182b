import type { OpenStore } from "@headgate/core/testing";
import {
  compositeLaws,
  envelopesOf,
  lawSubjects,
  lawsOf,
  policyLaws,
  refundLawsOf,
} from "@headgate/core/testing/laws";
import { describe, test } from "vitest";
import { redisStore } from "../../src/index.js";
import { freshPrefix, patientMs, useSingleServer } from "../servers/single.js";

const redis = useSingleServer();

// Fewer than in memory, since each step of each history is a round trip.
const histories = Number(process.env.HEADGATE_REDIS_HISTORIES ?? 15);

const openStore: OpenStore = (clock) =>
  redisStore(redis.client, {
    connection: "shared",
    prefix: freshPrefix(),
    clock,
    callTimeoutMs: patientMs,
    denyCache: false,
  });

describe("the Redis store", () => {
  const laws = [
    ...lawSubjects.flatMap((subject) =>
      [...lawsOf(subject), ...refundLawsOf(subject), ...envelopesOf(subject)].map((law) => ({
        law,
        title: `${subject}: ${law.name}`,
      })),
    ),
    ...[...compositeLaws(), ...policyLaws()].map((law) => ({ law, title: law.name })),
  ];

  test.each(laws)("obeys $title", { timeout: 60_000 }, async ({ law }) => {
    await law.run(openStore, { histories });
  });
});
