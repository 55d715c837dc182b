import { definePolicy } from "@headgate/core";
import { expect, test } from "vitest";
import { redisStore } from "../../src/index.js";
import { freshPrefix, patientMs, useSingleServer } from "../servers/single.js";

const redis = useSingleServer();
const window = "1h";
const huge = "99999999999999999999";
const endless = "9".repeat(400);

/** What stands under keys of ours although no Headgate writes it: by accident, or by somebody's hand. */
const oddStates = [
  "",
  "\u0000\r\n",
  "{}",
  `f1h ${huge} 3 5`,
  `f1h ${endless} 3 5`,
  `f1h 1700000000000 ${huge} 6`,
  `f${huge}d 1700000000000 3 5`,
  `f1h 1700000000000 3 5 ^2 ${huge}`,
  `c1h ${huge} 3 0 9`,
  `c1h ${huge} 3 0 8`,
  `t1h ${huge} 1700000000000 7 7`,
  `t1h 3600000 ${huge} 7 7`,
  `l1h ${endless} 1700000000000 7 7`,
  `w1h 5\n${"\uffff".repeat(20)}`,
];

const policies = [
  definePolicy("first", { algorithm: "fixed-window", limit: 5, window }),
  definePolicy("second", { algorithm: "token-bucket", limit: 7, window }),
  definePolicy("third", { algorithm: "sliding-window-counter", limit: 9, window }),
  definePolicy("fourth", { algorithm: "sliding-window", limit: 5, window }),
];

test("charges all policies of a request or none, whatever stands under their keys", async () => {
  for (const odd of oddStates) {
    for (const met of policies) {
      const prefix = freshPrefix();
      const store = redisStore(redis.client, {
        prefix,
        callTimeoutMs: patientMs,
        denyCache: false,
      });
      const charges = policies.map((policy) => ({ policy, subject: "user=1", cost: 1 }));
      await redis.client.set(`${prefix}:{user=1}:${met.name}`, odd, "PX", 3_600_000);
      const admitted = await store.apply(charges, "commit").then(
        (outcomes) => outcomes.every(({ allowed }) => allowed),
        () => false,
      );
      const others = charges.filter(({ policy }) => policy !== met);
      const left = await store.apply(others, "peek");
      const taken = left.map(({ limit, remaining }) => limit - remaining);
      expect(taken, JSON.stringify({ odd, met: met.name })).toEqual(
        others.map(() => (admitted ? 1 : 0)),
      );
      await store.close();
    }
  }
});
