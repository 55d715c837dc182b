import { createLimiter, definePolicy, type Policy, tokenBucket } from "@headgate/core";
import { expect, test } from "vitest";
import { type RedisStore, redisStore } from "../../src/index.js";
import { freshPrefix, patientMs, useSingleServer } from "../servers/single.js";
import { scriptCallsDuring } from "../servers/wire.js";

const redis = useSingleServer();

const rule = { algorithm: "token-bucket", limit: 5, window: "24h" } as const;
const api = definePolicy("api", rule);
const subject = "user=1";
const one = (policy: Policy, cost = 1) => ({ policy, subject, cost });

async function withStore(body: (store: RedisStore) => Promise<void>): Promise<void> {
  const store = redisStore(redis.client, { prefix: freshPrefix(), callTimeoutMs: patientMs });
  try {
    await store.apply([one(api, 5)], "commit");
    await body(store);
  } finally {
    await store.close();
  }
}

const callsOf = (body: () => Promise<unknown>) => scriptCallsDuring(redis.client, body);

const beside: readonly [what: string, policy: Policy][] = [
  ["a shadow", definePolicy("beside", { ...rule, shadow: true })],
  ["a penalty", definePolicy("beside", { ...rule, penalty: { on: "manual" } })],
  ["a policy that counts failures", definePolicy("beside", { ...rule, count: "failures" })],
  ["a policy that counts successes", definePolicy("beside", { ...rule, count: "successes" })],
];

for (const [what, policy] of beside) {
  test(`remembers no refusal of a batch with ${what}`, () =>
    withStore(async (store) => {
      const batch = [one(api), one(policy)];
      const calls = await callsOf(async () => {
        for (let count = 0; count < 3; count += 1) {
          expect((await store.apply(batch, "commit"))[0]?.allowed).toBe(false);
          expect(store.recall?.(batch)).toBeUndefined();
        }
      });
      expect(calls).toBe(3);
    }));
}

test("answers a charge of the very policy that refused alone, not of its tier or of its successor", () =>
  withStore(async (store) => {
    const others = [
      definePolicy("api", { ...rule, limit: 20 }),
      definePolicy("api", rule),
      definePolicy("api", { ...rule, limit: 1, version: 2 }),
    ];
    for (const other of others) {
      expect((await store.apply([one(api, 5)], "commit"))[0]?.allowed).toBe(false);
      expect(store.recall?.([one(api, 5)])).toBeDefined();
      expect(store.recall?.([one(other, 5)])).toBeUndefined();
      expect(await callsOf(() => store.apply([one(other, 5)], "commit"))).toBe(1);
    }
  }));

test("asks again after another version of a refusal's policy was decided, which may have converted its state", () =>
  withStore(async (store) => {
    await store.apply([one(api)], "commit");
    expect(store.recall?.([one(api)])).toBeDefined();
    const next = definePolicy("api", { ...rule, window: "12h", version: 2, migrate: "scale" });
    expect((await store.apply([one(next)], "commit"))[0]?.allowed).toBe(false);
    expect(store.recall?.([one(api)])).toBeUndefined();
  }));

test("asks again after a settled charge, which makes the wait longer", () =>
  withStore(async (store) => {
    const debtor = definePolicy("debtor", { ...rule, debt: 5 });
    await store.apply([one(debtor, 5)], "commit");
    const [refused] = await store.apply([one(debtor)], "commit");
    const [settled] = await store.apply([one(debtor, 3)], "settle");
    expect(settled).toMatchObject({ allowed: true, cost: 3, remaining: 0 });
    expect(store.recall?.([one(debtor)])).toBeUndefined();
    const [again] = await store.apply([one(debtor)], "commit");
    expect(again?.retryAfterMs).toBeGreaterThan(2 * (refused?.retryAfterMs ?? 0));
  }));

test("asks again for a policy that was charged beside a refused shadow", () =>
  withStore(async (store) => {
    const plain = definePolicy("plain", rule);
    const shadow = definePolicy("shadow", { ...rule, limit: 1, shadow: true });
    await store.apply([one(plain, 4)], "commit");
    await store.apply([one(plain, 3)], "commit");
    expect(store.recall?.([one(plain, 3)])).toBeDefined();
    const batch = [one(plain), { ...one(shadow), cost: 2 }];
    expect((await store.apply(batch, "commit")).map(({ allowed }) => allowed)).toEqual([
      true,
      false,
    ]);
    expect(store.recall?.([one(plain, 3)])).toBeUndefined();
  }));

test("asks again once the policies of a limiter are replaced", async () => {
  const store = redisStore(redis.client, { prefix: freshPrefix(), callTimeoutMs: patientMs });
  const limiter = createLimiter({
    store,
    deadlineMs: patientMs,
    policies: { api: tokenBucket({ ...rule, by: "user" }) },
  });
  const identity = { user: "ada" };
  await limiter.check("api", identity, { cost: 5 });
  expect((await limiter.check("api", identity)).allowed).toBe(false);
  limiter.replacePolicies({ api: tokenBucket({ ...rule, limit: 20, by: "user", version: 2 }) });
  expect(await limiter.check("api", identity)).toMatchObject({ allowed: true, remaining: 14 });
  await limiter.close();
});
