import type { Millis } from "../../clock.js";
import { definePolicy } from "../../policy/define.js";
import type { Penalty, Policy } from "../../policy/policy.js";
import type { Store } from "../../store/store.js";
import { answerOf, expectSame, expectSameAnswer, expectThat } from "../expectation.js";
import { onFreshStore, type StoreCase } from "../store-under-test.js";
import { nastySubjects, policiesOfFive, windowOf } from "./sample-policies.js";
import { applyOne, charge } from "./store-calls.js";

const banMs = 600_000;

/** One request a minute; what follows is a refusal. Three of them in ten minutes lead to a ban of as long. */
function banning(name: string, on: Penalty["on"] = "refusals", limit = 1): Policy {
  const penalty = { on, after: 3, within: "10m", banMs };
  return definePolicy(name, { algorithm: "fixed-window", limit, window: "1m", penalty });
}

/** What stores keep beside the states of policies with a penalty. */
export const banCases: readonly StoreCase[] = [
  {
    name: "bans with the last refusal within the time, in the same step, and to the millisecond",
    run: (openStore) =>
      onFreshStore(openStore, async (store, clock) => {
        const policy = banning("window");
        await applyOne(store, charge(policy));
        for (const refusal of [1, 2])
          expectSame((await applyOne(store, charge(policy))).banMs, 0, `the ban at ${refusal}`);
        const last = await applyOne(store, charge(policy));
        expectSame(
          [last.allowed, last.banMs, last.retryAfterMs, last.remaining, last.nextMs, last.resetMs],
          [false, banMs, banMs, 0, banMs, banMs],
          "the refusal that leads to a ban",
        );
        clock.set(clock.now() + banMs - 1);
        expectSame(await banOf(store, policy), 1, "the ban one millisecond before its end");
        expectSame((await applyOne(store, charge(policy))).allowed, false, "the last refusal");
        clock.set(clock.now() + 1);
        const free = await applyOne(store, charge(policy));
        expectSame([free.allowed, free.banMs], [true, 0], "the first call after the ban");
      }),
  },
  {
    name: "makes no ban longer, counts no look, and admits cost 0 under a ban",
    run: (openStore) =>
      onFreshStore(openStore, async (store, clock) => {
        const policy = banning("window");
        await applyOne(store, charge(policy));
        for (let looks = 0; looks < 5; looks += 1)
          expectSame(await banOf(store, policy), 0, "the ban after a look");
        await refuse(store, policy, 3);
        clock.set(clock.now() + 1_000);
        await refuse(store, policy, 7);
        await store.bans.strike(policy, "client");
        expectSame(await banOf(store, policy), banMs - 1_000, "the ban after more refusals");
        const free = await applyOne(store, charge(policy, "client", 0));
        expectSame([free.allowed, free.remaining], [true, 0], "cost 0 under a ban");
        expectSame(await banOf(store, policy, "neighbour"), 0, "the ban of a neighbour");
      }),
  },
  {
    name: "forgets refusals with the window that the first of them opened, and counts anew after a ban",
    run: (openStore) =>
      onFreshStore(openStore, async (store, clock) => {
        const policy = banning("window");
        const day = definePolicy("day", { ...policy, windowMs: 86_400_000 });
        await applyOne(store, charge(day));
        await refuse(store, day, 2);
        clock.set(clock.now() + 600_000);
        await refuse(store, day, 2);
        expectSame(await banOf(store, day), 0, "the ban after two late refusals");
        await refuse(store, day, 1);
        expectSame(await banOf(store, day), banMs, "the ban after the third");
        clock.set(clock.now() + banMs);
        await refuse(store, day, 2);
        expectSame(await banOf(store, day), 0, "the ban after two more");
        await refuse(store, day, 1);
        expectSame(await banOf(store, day), banMs, "the second ban");
      }),
  },
  {
    name: "counts strikes and bans by hand without touching the allowance",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        for (const plain of policiesOfFive()) {
          const penalty = { on: "failures", after: 3, within: "1h", ban: "1h" };
          const policy = definePolicy(plain.name, { ...plain, penalty });
          await applyOne(store, charge(policy, "client", 2));
          const before = answerOf(await applyOne(store, charge(policy), "peek"));
          const expectBefore = async (when: string): Promise<void> => {
            const now = await applyOne(store, charge(policy), "peek");
            expectSameAnswer(answerOf(now), before, `${policy.name} ${when}`);
          };
          await store.bans.strike(policy, "client");
          await store.bans.strike(policy, "client");
          await expectBefore("after two strikes");
          await store.bans.set(policy, "client", 5_000);
          await store.bans.set(policy, "neighbour", 5_000);
          for (const subject of ["client", "neighbour"]) {
            const { banMs, remaining, nextMs } = await applyOne(store, charge(policy, subject, 0));
            expectSame([banMs, remaining, nextMs], [5_000, 0, 5_000], `${policy.name}: ${subject}`);
          }
          await store.bans.set(policy, "client", 0);
          await store.bans.set(policy, "stranger", 0);
          await expectBefore("after the ban was lifted");
          await store.bans.strike(policy, "client");
          await expectBefore("after one strike, since the two before were forgotten");
          await store.bans.strike(policy, "client");
          await store.bans.strike(policy, "client");
          expectSame(await banOf(store, policy), 3_600_000, `${policy.name}: the ban by strikes`);
        }
      }),
  },
  {
    name: "forgets strikes and bans by a reset, or strikes alone where the ban is to go on",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        const policy = banning("window", "failures", 5);
        const strike = async (times: number): Promise<void> => {
          for (let time = 0; time < times; time += 1) await store.bans.strike(policy, "client");
        };
        for (const keepBan of [false, true]) {
          await strike(2);
          await store.reset(policy, "client", keepBan);
          await strike(2);
          expectSame(await banOf(store, policy), 0, `the ban, keepBan ${keepBan}`);
          await store.reset(policy, "client");
        }
        await applyOne(store, charge(policy, "client", 5));
        await strike(3);
        await store.reset(policy, "client", true);
        expectSame(await banOf(store, policy), banMs, "the ban that goes on");
        await store.reset(policy, "client");
        const free = await applyOne(store, charge(policy));
        expectSame([free.allowed, free.remaining, free.banMs], [true, 4, 0], "after a reset");
      }),
  },
  {
    name: "counts a refused batch only under the policies that refuse it by themselves",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        const [full, roomy] = [banning("full"), banning("roomy", "refusals", 100)];
        const both = [charge(full), charge(roomy)];
        await store.apply(both, "commit");
        for (let refusal = 0; refusal < 3; refusal += 1) await store.apply(both, "commit");
        expectSame(await banOf(store, full), banMs, "the ban of the full one");
        expectSame(await banOf(store, roomy), 0, "the ban of the other one");
        const [, met] = await store.apply(both, "commit");
        expectSame([met?.allowed, met?.remaining], [true, 99], "the other one");
      }),
  },
  {
    name: "lists the bans of some policies that have not ended, as many as asked for, whoever is banned",
    run: (openStore) =>
      onFreshStore(openStore, async (store, clock) => {
        const [one, other, third] = ["one", "other", "third"].map((name) => banning(name));
        if (!one || !other || !third) throw new Error("three policies");
        for (const subject of nastySubjects) await store.bans.set(one, subject, 5_000);
        await store.bans.set(other, "client", 1_000);
        await store.bans.set(third, "client", 9_000);
        await applyOne(store, charge(third, "stranger"));
        await refuse(store, third, 1, "stranger");
        clock.set(clock.now() + 1_000);
        const listed = await store.bans.list([one, other], 1_000);
        expectSame(
          listed.map(({ policyName, subject, endsInMs }) => [policyName, subject, endsInMs]).sort(),
          nastySubjects.map((subject) => ["one", subject, 4_000]).sort(),
          "the bans",
        );
        expectSame((await store.bans.list([one], 7)).length, 7, "as many as asked for");
        const [single] = await store.bans.list([third], 5);
        expectSame(single, { policyName: "third", subject: "client", endsInMs: 8_000 }, "a ban");
        expectSame(await store.bans.list([windowOf("plain", 5), other], 5), [], "no bans");
      }),
  },
  {
    name: "settles what has been done under a ban too",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        const policy = banning("window", "manual", 5);
        await store.bans.set(policy, "client", 5_000);
        const settled = await applyOne(store, charge(policy, "client", 2), "settle");
        expectSame([settled.allowed, settled.cost, settled.banMs], [true, 2, 5_000], "the settled");
        await store.bans.set(policy, "client", 0);
        const after = await applyOne(store, charge(policy, "client", 0), "peek");
        expectSame(after.remaining, 3, "remaining after the ban");
      }),
  },
];

async function refuse(
  store: Store,
  policy: Policy,
  times: number,
  subject?: string,
): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    // Never fits, so it is refused on any state.
    const { allowed } = await applyOne(store, charge(policy, subject, 1_000));
    expectThat(!allowed, `${policy.name}: more than the limit is refused`);
  }
}

async function banOf(store: Store, policy: Policy, subject?: string): Promise<Millis> {
  return (await applyOne(store, charge(policy, subject), "peek")).banMs;
}
