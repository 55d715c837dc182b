import type { Policy } from "../../policy/policy.js";
import type { ChargeReceipt, Store } from "../../store/store.js";
import { answerOf, expectSame, expectSameAnswer, expectThat } from "../expectation.js";
import { onFreshStore, type StoreCase } from "../store-under-test.js";
import { policiesOfFive } from "./sample-policies.js";
import { applyOne, charge, remaining } from "./store-calls.js";

/** What giving back and starting afresh do. */
export const refundCases: readonly StoreCase[] = [
  {
    name: "makes a charge that is refunded at once as if it had not happened",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        for (const policy of policiesOfFive()) {
          await applyOne(store, charge(policy, "client", 1));
          const before = answerOf(await applyOne(store, charge(policy, "client", 1), "peek"));
          await store.refund([await take(store, policy, 3)]);
          const after = answerOf(await applyOne(store, charge(policy, "client", 1), "peek"));
          expectSameAnswer(after, before, policy.name);
        }
      }),
  },
  {
    name: "refunds several receipts at once, of several policies",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        const policies = policiesOfFive();
        const outcomes = await store.apply(
          policies.map((policy) => charge(policy, "client", 2)),
          "commit",
        );
        const receipts = outcomes.map(({ receipt }) => receipt as ChargeReceipt);
        await store.refund(receipts);
        for (const policy of policies)
          expectSame(await remaining(store, policy), 5, `${policy.name}: remaining`);
        await store.refund([]);
      }),
  },
  {
    name: "never recreates a key by a refund, and never gives more than the capacity",
    run: (openStore) =>
      onFreshStore(openStore, async (store, clock) => {
        for (const policy of policiesOfFive()) {
          const receipt = await take(store, policy, 2);
          await store.reset(policy, "client");
          await store.refund([receipt]);
          await expectUntouched(store, policy, "after a refund of what was reset");
          const late = await take(store, policy, 2);
          clock.set(clock.now() + 3 * policy.windowMs);
          await store.refund([late]);
          await expectUntouched(store, policy, "after a refund of what had expired");
          const kept = await take(store, policy, 1);
          clock.set(clock.now() + 3 * policy.windowMs);
          await applyOne(store, charge(policy, "client", 5));
          await store.refund([kept]);
          expectSame(
            await remaining(store, policy),
            0,
            `${policy.name}: remaining after a late refund`,
          );
        }
      }),
  },
  {
    name: "makes one subject untouched under one policy by a reset, and nothing else",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        const policies = policiesOfFive();
        for (const policy of policies) {
          await applyOne(store, charge(policy, "client", 5));
          await applyOne(store, charge(policy, "neighbour", 5));
        }
        const [first, ...others] = policies as [Policy, ...Policy[]];
        await store.reset(first, "client");
        await store.reset(first, "stranger");
        await expectUntouched(store, first, "after a reset");
        expectSame(await remaining(store, first, "neighbour"), 0, "remaining of the neighbour");
        for (const policy of others)
          expectSame(await remaining(store, policy), 0, `${policy.name}: remaining`);
      }),
  },
];

async function take(store: Store, policy: Policy, cost: number): Promise<ChargeReceipt> {
  const { receipt } = await applyOne(store, charge(policy, "client", cost));
  expectThat(receipt !== undefined, `${policy.name}: an admitted charge has a receipt`);
  return receipt as ChargeReceipt;
}

async function expectUntouched(store: Store, policy: Policy, when: string): Promise<void> {
  const { remaining, resetMs, nextMs } = await applyOne(store, charge(policy, "client", 0), "peek");
  expectSame([remaining, resetMs, nextMs], [5, 0, undefined], `${policy.name} ${when}`);
}
