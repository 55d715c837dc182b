import { definePolicy } from "../../policy/define.js";
import type { Policy } from "../../policy/policy.js";
import type { PolicyInput } from "../../policy/rules.js";
import type { ChargeReceipt } from "../../store/store.js";
import { answerOf, expectSame, expectSameAnswer } from "../expectation.js";
import { onFreshStore, type StoreCase } from "../store-under-test.js";
import { policiesOfFive, windowOf } from "./sample-policies.js";
import { applyOne, charge, remaining } from "./store-calls.js";

/** The same policy with other numbers or rules. */
function changed(policy: Policy, more: PolicyInput): Policy {
  return definePolicy(policy.name, { ...policy, ...more });
}

/** A capacity of as many calls at one instant. */
function ofCapacity(policy: Policy, capacity: number): PolicyInput {
  if (policy.algorithm === "token-bucket") return { limit: capacity, burst: capacity };
  if (policy.algorithm === "leaky-bucket") return { limit: capacity, queue: capacity - 1 };
  return { limit: capacity };
}

/** What policies beyond plain limits ask of a store: tiers, versions, debt, parts, shadows. */
export const policyCases: readonly StoreCase[] = [
  {
    name: "counts all tiers of a policy in one state, each by its own numbers",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        for (const free of policiesOfFive()) {
          const pro = changed(free, ofCapacity(free, 20));
          await applyOne(store, charge(free, "client", 5));
          const full = await applyOne(store, charge(free));
          expectSame([full.allowed, full.limit], [false, 5], `${free.name}: 5 of 5 used`);
          const sixth = await applyOne(store, charge(pro));
          expectSame(
            [sixth.allowed, sixth.limit, sixth.remaining],
            [true, 20, 14],
            `${free.name}: the next one under 20`,
          );
          const back = await applyOne(store, charge(free));
          expectSame([back.allowed, back.remaining], [false, 0], `${free.name}: and back`);
          expectSame(await remaining(store, pro), 14, `${free.name}: a refusal changed nothing`);
        }
      }),
  },
  {
    name: "carries what is used over to another algorithm, by the rule of a higher version",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        const policies = policiesOfFive();
        for (const from of policies)
          for (const to of policies) {
            if (from.algorithm === "leaky-bucket" && to.algorithm === "leaky-bucket") continue;
            for (const [migrate, left] of [
              ["keep", 7],
              ["scale", 4],
              ["reset", 10],
            ] as const) {
              const name = `${from.name}-${to.name}-${migrate}`;
              const old = definePolicy(name, { ...from });
              const version = { ...to, ...ofCapacity(to, 10), version: 2, migrate };
              await applyOne(store, charge(old, "client", 3));
              const next = definePolicy(name, version);
              expectSame(await remaining(store, next), left, `${name}: remaining at the switch`);
              await applyOne(store, charge(next));
              expectSame(await remaining(store, next), left - 1, `${name}: after a charge`);
              // The version in the state has not gone down, so the rule is not applied again.
              if ((await applyOne(store, charge(old))).allowed)
                expectSame(await remaining(store, next), left - 2, `${name}: after the old one`);
            }
          }
      }),
  },
  {
    name: "leaves the next free slot of a queue where it is when the queue changes",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        const queue = policiesOfFive().find(({ algorithm }) => algorithm === "leaky-bucket");
        if (queue === undefined) throw new Error("one of them is a leaky bucket");
        for (const migrate of ["keep", "scale"]) {
          const more = { limit: 20, windowMs: 100_000, queue: 9, version: 2, migrate };
          const [old, next] = [queue, { ...queue, ...more }].map((input) =>
            definePolicy(`queue-${migrate}`, { ...input }),
          ) as [Policy, Policy];
          await applyOne(store, charge(old, "client", 3));
          const { delayMs, resetMs } = await applyOne(store, charge(next), "peek");
          expectSame([delayMs, resetMs], [36_000, 36_000], `${migrate}: until the next free slot`);
        }
      }),
  },
  {
    name: "settles each charge for itself, as far as capacity and debt have room, and tells how far",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        for (const plain of policiesOfFive()) {
          const policy = changed(plain, { debt: 2 });
          await applyOne(store, charge(policy, "client", 3));
          const settled = await applyOne(store, charge(policy, "client", 1), "settle");
          expectSame(
            [settled.allowed, settled.cost, settled.remaining, settled.retryAfterMs],
            [true, 1, 1, 0],
            `${policy.name}: room for all of it`,
          );
          const batch = [charge(policy, "client", 9), charge(policy, "neighbour", 2)];
          const [cut, whole] = await store.apply(batch, "settle");
          expectSame(
            [cut?.allowed, cut?.cost, cut?.remaining, cut?.receipt?.cost],
            [false, 3, 0, 3],
            `${policy.name}: room for a part of it`,
          );
          expectSame([whole?.allowed, whole?.cost], [true, 2], `${policy.name}: the neighbour`);
          const none = await applyOne(store, charge(policy, "client", 1), "settle");
          expectSame(
            [none.allowed, none.cost, none.receipt],
            [false, 0, undefined],
            `${policy.name}: no room`,
          );
          const next = await applyOne(store, charge(policy));
          expectSame(next.allowed, false, `${policy.name}: the next call waits for the debt`);
          await store.refund([cut?.receipt as ChargeReceipt]);
          expectSame(await remaining(store, policy), 1, `${policy.name}: the settled given back`);
        }
      }),
  },
  {
    name: "gives back a part of a charge as if the charge had been smaller",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        for (const policy of policiesOfFive()) {
          const { receipt } = await applyOne(store, charge(policy, "client", 4));
          await store.refund([{ ...(receipt as ChargeReceipt), part: 3 }]);
          await applyOne(store, charge(policy, "twin", 1));
          const [left, twin] = await store.apply(
            [charge(policy, "client", 5), charge(policy, "twin", 5)],
            "peek",
            true,
          );
          if (left === undefined || twin === undefined) throw new Error("an outcome is missing");
          expectSameAnswer(answerOf(left), answerOf(twin), policy.name);
          expectSame(await remaining(store, policy), 4, `${policy.name}: remaining`);
        }
      }),
  },
  {
    name: "gives back what one tier was charged where another has been charged since",
    run: (openStore) =>
      onFreshStore(openStore, async (store, clock) => {
        const slow = policiesOfFive().find(
          ({ algorithm }) => algorithm === "token-bucket",
        ) as Policy;
        const fast = changed(slow, { limit: 600, burst: 600 });
        const { receipt } = await applyOne(store, charge(slow, "client", 3));
        clock.set(clock.now() + 100);
        await applyOne(store, charge(fast, "client", 8));
        clock.set(clock.now() + 100);
        expectSame(await remaining(store, fast), 591, "remaining before the refund");
        await store.refund([{ ...(receipt as ChargeReceipt), part: 2 }]);
        expectSame(await remaining(store, fast), 593, "remaining after the refund");
      }),
  },
  {
    name: "charges a shadow policy where all admit, lets it refuse nothing, and looks at it else",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        const enforced = windowOf("enforced", 3);
        const shadow = definePolicy("shadow", { ...windowOf("shadow", 2), shadow: true });
        const batch = [charge(shadow), charge(enforced)];
        const seen: unknown[] = [];
        for (let call = 0; call < 4; call += 1) {
          const outcomes = await store.apply(batch, "commit");
          seen.push(outcomes.map(({ allowed, remaining }) => [allowed, remaining]));
        }
        expectSame(
          seen,
          [
            [
              [true, 1],
              [true, 2],
            ],
            [
              [true, 0],
              [true, 1],
            ],
            [
              [false, 0],
              [true, 0],
            ],
            [
              [false, 0],
              [false, 0],
            ],
          ],
          "what four calls met",
        );
        await store.reset(shadow, "client");
        await store.apply(batch, "commit");
        expectSame(await remaining(store, shadow), 2, "the shadow of a refused batch");
      }),
  },
];
