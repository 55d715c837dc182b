import { answerOf, expectSame, expectSameAnswer } from "../expectation.js";
import { onFreshStore, type StoreCase } from "../store-under-test.js";
import { policiesOfFive, windowOf } from "./sample-policies.js";
import { applyOne, charge, expectCode, remaining } from "./store-calls.js";

/** What several charges decided together do. */
export const batchCases: readonly StoreCase[] = [
  {
    name: "charges all of a batch when all admit, with outcomes in the order of the charges",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        const policies = policiesOfFive();
        const outcomes = await store.apply(
          policies.map((policy) => charge(policy, "client", 2)),
          "commit",
        );
        expectSame(
          outcomes.map(({ policy, allowed, remaining }) => [policy.name, allowed, remaining]),
          policies.map(({ name }) => [name, true, 3]),
          "the batch",
        );
      }),
  },
  {
    name: "charges none of a batch when one refuses, wherever the refusing one stands",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        const policies = policiesOfFive();
        for (const full of policies) {
          const subject = `client of ${full.name}`;
          await applyOne(store, charge(full, subject, 5));
          const batch = policies.map((policy) => charge(policy, subject));
          const outcomes = await store.apply(batch, "commit");
          expectSame(
            outcomes.map(({ allowed }) => allowed),
            policies.map((policy) => policy !== full),
            `the verdicts when ${full.name} is full`,
          );
          for (const policy of policies)
            expectSame(
              await remaining(store, policy, subject),
              policy === full ? 0 : 5,
              `${policy.name} after a batch that ${full.name} refused`,
            );
          expectSame(
            outcomes.filter(({ receipt }) => receipt !== undefined).length,
            0,
            "receipts of a refused batch",
          );
        }
      }),
  },
  {
    name: "peeks at a batch without charging any of it",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        const policies = policiesOfFive();
        const batch = policies.map((policy) => charge(policy));
        const first = await store.apply(batch, "peek", true);
        const again = await store.apply(batch, "peek", true);
        for (const [index, policy] of policies.entries()) {
          const [one, other] = [first[index], again[index]];
          if (one === undefined || other === undefined) throw new Error("an outcome is missing");
          expectSameAnswer(answerOf(other), answerOf(one), `${policy.name}: the second peek`);
          expectSame(one.remaining, 5, `${policy.name}: remaining`);
        }
      }),
  },
  {
    name: "decides one policy for many subjects in one batch",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        const policy = windowOf("window", 2);
        const batch = Array.from({ length: 100 }, (_, index) => charge(policy, `client ${index}`));
        for (const left of [1, 0]) {
          const outcomes = await store.apply(batch, "commit");
          expectSame(
            outcomes.map((outcome) => outcome.remaining),
            new Array(100).fill(left),
            "remaining",
          );
        }
      }),
  },
  {
    name: "fails with INVALID_CHARGE when a batch names one policy and subject twice, and charges nothing",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        const [policy, other] = [windowOf("window", 5), windowOf("other", 5)];
        const batch = [charge(policy), charge(other), charge(policy, "client", 2)];
        await expectCode("INVALID_CHARGE", () => store.apply(batch, "commit"), "a commit");
        await expectCode("INVALID_CHARGE", () => store.apply(batch, "peek"), "a peek");
        expectSame(await remaining(store, policy), 5, "remaining");
        expectSame(await remaining(store, other), 5, "remaining of the other policy");
      }),
  },
  {
    name: "decides each charge by the numbers of its own policy, over one state for its name",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        const [first, second] = [windowOf("window", 5), windowOf("window", 20)];
        await applyOne(store, charge(first, "client", 5));
        expectSame(await remaining(store, first), 0, "remaining of 5");
        const more = await applyOne(store, charge(second));
        expectSame([more.limit, more.remaining], [20, 14], "limit and remaining of 20");
        expectSame(await remaining(store, windowOf("window", 5)), 0, "remaining of 5 again");
      }),
  },
];
