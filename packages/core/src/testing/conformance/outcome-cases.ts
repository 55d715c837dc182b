import { definePolicy } from "../../policy/define.js";
import type { Outcome } from "../../store/store.js";
import { answerOf, expectSame, expectSameAnswer, expectThat, text } from "../expectation.js";
import { onFreshStore, type StoreCase } from "../store-under-test.js";
import { policiesOfFive, windowOf } from "./sample-policies.js";
import { applyOne, charge, expectCode } from "./store-calls.js";

/** What one charge answers. */
export const outcomeCases: readonly StoreCase[] = [
  {
    name: "answers ten calls of one tick at limit 5 with five admissions and five refusals that stay as they are",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        for (const policy of policiesOfFive()) {
          const calls = Array.from({ length: 10 }, () => store.apply([charge(policy)], "commit"));
          const outcomes = (await Promise.all(calls)).flat();
          const seen = outcomes.map(({ allowed, remaining }) => (allowed ? remaining : "refused"));
          const expected = [4, 3, 2, 1, 0, ...new Array<string>(5).fill("refused")];
          expectSame(seen, expected, policy.name);
          const before = text(outcomes);
          await store.reset(policy, "client");
          await applyOne(store, charge(policy, "client", 3));
          expectSame(text(outcomes), before, `${policy.name}, after later calls`);
        }
      }),
  },
  {
    name: "names the policy and the cost of each outcome, and the policy's capacity as its limit",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        for (const policy of policiesOfFive()) {
          const outcome = await applyOne(store, charge(policy, "client", 2));
          expectThat(outcome.policy === policy, `${policy.name}: the outcome must name its policy`);
          expectSame([outcome.cost, outcome.limit], [2, 5], `${policy.name}: cost and limit`);
        }
      }),
  },
  {
    name: "gives a receipt for what was taken, and none for a refusal, a look or a peek",
    run: (openStore) =>
      onFreshStore(openStore, async (store, clock) => {
        for (const policy of policiesOfFive()) {
          const { receipt } = await applyOne(store, charge(policy, "client", 3));
          expectThat(receipt !== undefined, `${policy.name}: an admitted charge has a receipt`);
          expectSame(
            [receipt?.policy.name, receipt?.subject, receipt?.cost, receipt?.at],
            [policy.name, "client", 3, clock.now()],
            `${policy.name}: receipt`,
          );
          const others = [
            await applyOne(store, charge(policy, "client", 3)),
            await applyOne(store, charge(policy, "client", 0)),
            await applyOne(store, charge(policy, "client", 1), "peek"),
          ];
          for (const other of others)
            expectSame(other.receipt, undefined, `${policy.name}: receipt of nothing taken`);
        }
      }),
  },
  {
    name: "refuses a cost above the capacity for ever, and leaves the state alone",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        for (const policy of policiesOfFive()) {
          await applyOne(store, charge(policy, "client", 2));
          for (const cost of [6, 1_000_000, Number.MAX_SAFE_INTEGER]) {
            const { allowed, retryAfterMs, remaining } = await applyOne(
              store,
              charge(policy, "client", cost),
            );
            expectSame([allowed, retryAfterMs, remaining], [false, Infinity, 3], policy.name);
          }
        }
      }),
  },
  {
    name: "changes nothing on a peek or at cost 0, and admits cost 0 even when nothing is left",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        for (const policy of policiesOfFive()) {
          for (const taken of [0, 2, 3]) {
            await applyOne(store, charge(policy, "client", taken));
            const before = answerOf(await applyOne(store, charge(policy, "client", 0), "peek"));
            expectThat(before.allowed, `${policy.name}: cost 0 is always admitted`);
            await applyOne(store, charge(policy, "client", 1), "peek");
            const after = await applyOne(store, charge(policy, "client", 0));
            expectSameAnswer(answerOf(after), before, `${policy.name}: a look after a peek`);
          }
        }
      }),
  },
  {
    name: "tells nextMs when asked, and leaves it out when not asked or when nothing is used",
    run: (openStore) =>
      onFreshStore(openStore, async (store, clock) => {
        for (const policy of policiesOfFive()) {
          const untouched = await applyOne(store, charge(policy, "client", 0), "peek");
          expectSame(untouched.nextMs, undefined, `${policy.name}: nextMs of an untouched key`);
          const [unasked] = (await store.apply([charge(policy)], "commit")) as [Outcome];
          expectSame(unasked.nextMs, undefined, `${policy.name}: nextMs when not asked for`);
          const { nextMs, remaining } = await applyOne(store, charge(policy, "client", 0), "peek");
          const wait = await applyOne(store, charge(policy, "client", remaining + 1), "peek");
          expectSame(nextMs, wait.retryAfterMs, `${policy.name}: nextMs`);
          clock.set(clock.now() + (nextMs ?? 0));
          const later = await applyOne(store, charge(policy, "client", 0), "peek");
          expectThat(
            later.remaining > remaining,
            `${policy.name}: remaining must grow after nextMs`,
          );
        }
      }),
  },
  {
    name: "keeps numbers near 2^53 exact to the last digit",
    run: (openStore) =>
      onFreshStore(openStore, async (store, clock) => {
        const emptied = 4_503_586_116;
        const bucket = definePolicy("bucket", {
          algorithm: "token-bucket",
          limit: 7,
          windowMs: 1_000_003,
          burst: emptied,
        });
        const all = await applyOne(store, charge(bucket, "client", emptied));
        expectSame(
          [all.allowed, all.remaining, all.resetMs, all.nextMs],
          [true, 0, 643_371_375_251_193, 142_858],
          "a bucket emptied at once",
        );
        clock.set(clock.now() + 643_371_375_251_192);
        const almost = await applyOne(store, charge(bucket, "client", emptied));
        expectSame([almost.allowed, almost.retryAfterMs], [false, 1], "one millisecond too early");
        const window = windowOf("window", 2 ** 52 - 1);
        await applyOne(store, charge(window, "client", 2 ** 52 - 3));
        const full = await applyOne(store, charge(window, "client", 1));
        expectSame([full.allowed, full.remaining], [true, 1], "a window nearly full");
      }),
  },
  {
    name: "fails with INVALID_CLOCK when its clock reads no instant",
    run: (openStore) =>
      onFreshStore(
        () => openStore({ now: () => Number.NaN }),
        async (store) => {
          const call = () => store.apply([charge(windowOf("window", 5))], "commit");
          await expectCode("INVALID_CLOCK", call, "a charge");
        },
      ),
  },
];
