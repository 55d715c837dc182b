import { type ChargeReceipt, definePolicy, type Policy } from "@headgate/core";
import { afterAll, test } from "vitest";
import { redisStore } from "../../src/index.js";
import { expectEveryKeyToExpire } from "../servers/expiry.js";
import { useSingleServer } from "../servers/single.js";
import { until } from "../servers/until.js";
import { SeededRandom } from "../store/random.js";

const operations = 100_000;
const atATime = 200;
const longestWindowMs = 1_000;
const random = new SeededRandom();
const redis = useSingleServer();

const policies: readonly Policy[] = [
  definePolicy("fixed", { algorithm: "fixed-window", limit: 20, windowMs: 300 }),
  definePolicy("anchored", {
    algorithm: "fixed-window",
    anchor: "first-request",
    limit: 20,
    windowMs: longestWindowMs,
  }),
  definePolicy("log", { algorithm: "sliding-window", limit: 50, windowMs: longestWindowMs }),
  definePolicy("counter", { algorithm: "sliding-window-counter", limit: 20, windowMs: 700 }),
  definePolicy("bucket", { algorithm: "token-bucket", limit: 10, burst: 10, windowMs: 900 }),
  definePolicy("queue", {
    algorithm: "leaky-bucket",
    limit: 10,
    queue: 9,
    windowMs: longestWindowMs,
  }),
];

afterAll(() => console.log(`soak: seed ${random.seed}`));

test(`leaves no key without a TTL after ${operations} random operations, and none two windows later`, async () => {
  const store = redisStore(redis.client, { callTimeoutMs: 5_000 });
  const receipts: ChargeReceipt[] = [];
  const operate = async (): Promise<void> => {
    const subject = `user=${random.integer(300)}`;
    const kind = random.integer(10);
    if (kind === 0 && receipts.length > 0) {
      // Some of them a second time, some long after their key is gone.
      await store.refund([random.pick(receipts)]);
      return;
    }
    if (kind === 1) {
      await store.reset(random.pick(policies), subject);
      return;
    }
    const charges = policies
      .filter(() => random.integer(3) === 0)
      .map((policy) => ({ policy, subject, cost: random.integer(4) }));
    const outcomes = await store.apply(charges, kind === 2 ? "peek" : "commit");
    for (const { receipt } of outcomes) {
      if (receipt !== undefined) receipts[random.integer(1_000) % (receipts.length + 1)] = receipt;
    }
  };
  for (let done = 0; done < operations; done += atATime) {
    await Promise.all(Array.from({ length: atATime }, operate));
    if (done % 20_000 === 0) await expectEveryKeyToExpire(redis.client);
  }
  await expectEveryKeyToExpire(redis.client);
  // KEYS passes over what has expired, whether or not it has been swept yet.
  await until(async () => (await redis.client.keys("*")).length === 0, 2 * longestWindowMs);
  await store.close();
});
