import { definePolicy, type Policy } from "@headgate/core";
import { SteppingClock } from "@headgate/core/testing";
import { expect, test } from "vitest";
import { redisStore } from "../../src/index.js";
import { patientMs, useSingleServer } from "../servers/single.js";

const redis = useSingleServer();

const rule = { limit: 10_000, window: "1h" };
const targets: readonly [policy: Policy, bytes: number][] = [
  [definePolicy("a", { ...rule, algorithm: "fixed-window" }), 112],
  [definePolicy("b", { ...rule, algorithm: "sliding-window-counter" }), 128],
  [definePolicy("c", { ...rule, algorithm: "token-bucket" }), 128],
  [
    definePolicy("d", { ...rule, algorithm: "leaky-bucket", queue: 10_000, maxDelayMs: 3_600_000 }),
    128,
  ],
];

for (const [policy, bytes] of targets) {
  test(`keeps a ${policy.algorithm} in at most ${bytes} bytes under a key of 25`, async () => {
    const store = redisStore(redis.client, { prefix: "headgate", callTimeoutMs: patientMs });
    const charge = { policy, subject: "user=1234567", cost: 450 };
    for (let count = 0; count < 20; count += 1) await store.apply([charge], "commit");
    await store.close();
    const key = `headgate:{user=1234567}:${policy.name}`;
    expect(key).toHaveLength(25);
    const used = await redis.client.memory("USAGE", key);
    console.log(`${policy.algorithm}: ${used} bytes, ${await redis.client.get(key)}`);
    expect(used).toBeLessThanOrEqual(bytes);
  });
}

const logs: readonly [events: number, window: string][] = [
  [1_000, "1m"],
  [1_000, "30d"],
  [1_300, "1h"],
  [10_000, "24h"],
];

for (const [events, window] of logs) {
  test(`keeps ${events} events of a sliding window of ${window} in at most 11 bytes each`, async () => {
    const clock = new SteppingClock(1_700_000_000_000);
    const policy = definePolicy("log", { algorithm: "sliding-window", limit: 20_000, window });
    const store = redisStore(redis.client, {
      prefix: `m${events}`,
      clock,
      callTimeoutMs: patientMs,
    });
    let most = 0;
    for (let count = 1; count <= events; count += 1) {
      await store.apply([{ policy, subject: "user=1", cost: 1 }], "commit");
      clock.set(clock.now() + 1);
      if (count < 1_000) continue;
      if (count > 1_000 && count % 97 !== 0 && count !== events) continue;
      const used = await redis.client.memory("USAGE", `m${events}:{user=1}:log`, "SAMPLES", 0);
      most = Math.max(most, Number(used) / count);
    }
    await store.close();
    console.log(`sliding-window of ${window}: at most ${most.toFixed(2)} bytes for each event`);
    expect(most).toBeLessThanOrEqual(11);
  });
}
