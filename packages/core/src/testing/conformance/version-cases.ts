import { definePolicy } from "../../policy/define.js";
import type { Policy } from "../../policy/policy.js";
import type { ChargeReceipt, Store } from "../../store/store.js";
import { expectSame } from "../expectation.js";
import { onFreshStore, type StoreCase } from "../store-under-test.js";
import { policiesOfFive } from "./sample-policies.js";
import { applyOne, charge, remaining } from "./store-calls.js";

/** What two versions of a policy may do that take turns on one key, as while a deployment goes on. */
export const versionCases: readonly StoreCase[] = [
  {
    name: "resets once in the time that it forgives, also where what a version counted is given back",
    run: (openStore) =>
      onFreshStore(openStore, async (store, clock) => {
        for (const plain of policiesOfFive()) {
          const [old, next] = versionsOf(plain, { migrate: "reset" });
          const start = clock.now();
          let failures = await fail(store, old);
          for (let turn = 0; turn < 20; turn += 1) {
            await succeed(store, next);
            failures += await fail(store, old);
          }
          expectSame(failures, 10, `${plain.name}: failures of two versions of 5`);
          expectSame(await remaining(store, next), 0, `${plain.name}: remaining`);
          clock.set(start + 2 * plain.windowMs);
          expectSame(await fail(store, old), 5, `${plain.name}: failures after two windows`);
          await succeed(store, next);
          expectSame(await remaining(store, next), 5, `${plain.name}: remaining of another reset`);
        }
      }),
  },
  {
    name: "forgives no more while what it has forgiven would have counted",
    run: (openStore) =>
      onFreshStore(openStore, async (store, clock) => {
        const bucket = { algorithm: "token-bucket", window: "1m", limit: 60, burst: 60 };
        const old = definePolicy("bucket", bucket);
        const next = definePolicy("bucket", { ...bucket, version: 2, migrate: "reset" });
        let admitted = 0;
        // What the newer one has charged is given back within a second, what it forgave would be in a minute.
        for (let second = 0; second < 10; second += 1) {
          while ((await applyOne(store, charge(old))).allowed) admitted += 1;
          if ((await applyOne(store, charge(next))).allowed) admitted += 1;
          clock.set(clock.now() + 1_000);
        }
        expectSame(admitted, 60 + 60 + 9, "admitted in ten seconds");
      }),
  },
  {
    name: "keeps the next free slot of a queue where it is while two rates take turns",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        const queue = { algorithm: "leaky-bucket", windowMs: 60_000, maxDelayMs: 600_000 };
        const slow = definePolicy("queue", { ...queue, limit: 1, queue: 0 });
        const fast = definePolicy("queue", { ...queue, limit: 60, queue: 119, version: 2 });
        await applyOne(store, charge(fast, "client", 60));
        for (let turn = 0; turn < 3; turn += 1) {
          const { allowed, retryAfterMs } = await applyOne(store, charge(slow));
          expectSame([allowed, retryAfterMs], [false, 60_000], "the slow one waits for its slot");
          const { delayMs } = await applyOne(store, charge(fast, "client", 1), "peek");
          expectSame(delayMs, 60_000, "the hold of the fast one's next");
        }
        await applyOne(store, charge(fast, "client", 60));
        expectSame((await applyOne(store, charge(fast))).allowed, false, "the queue is full");
      }),
  },
  {
    name: "takes an earlier clock for the instant that a state holds when it is converted",
    run: (openStore) =>
      onFreshStore(openStore, async (store, clock) => {
        for (const migrate of ["keep", "scale"]) {
          const now = clock.now();
          const log = { algorithm: "sliding-window", limit: 5, window: "1m" };
          const bucket = { algorithm: "token-bucket", limit: 5, window: "1m", version: 2, migrate };
          const name = `switched-${migrate}`;
          await applyOne(store, charge(definePolicy(name, log), "client", 5));
          const next = definePolicy(name, bucket);
          clock.set(now - 30_000);
          const early = await applyOne(store, charge(next));
          expectSame([early.allowed, early.retryAfterMs], [false, 42_000], `${migrate}: earlier`);
          clock.set(now);
          expectSame(await remaining(store, next), 0, `${migrate}: when the clock is right again`);
        }
      }),
  },
];

/** A policy that counts failures, and its next version. */
function versionsOf(plain: Policy, more: object): readonly [Policy, Policy] {
  const counting = { ...plain, count: "failures" };
  return [
    definePolicy(plain.name, counting),
    definePolicy(plain.name, { ...counting, ...more, version: 2 }),
  ];
}

/** Attempts that fail, so stay counted, until one is refused; tells how many were admitted. */
async function fail(store: Store, policy: Policy): Promise<number> {
  let admitted = 0;
  while ((await applyOne(store, charge(policy))).allowed) admitted += 1;
  return admitted;
}

/** An attempt that succeeds, so is given back, if it is admitted. */
async function succeed(store: Store, policy: Policy): Promise<void> {
  const { receipt } = await applyOne(store, charge(policy));
  if (receipt !== undefined) await store.refund([receipt as ChargeReceipt]);
}
