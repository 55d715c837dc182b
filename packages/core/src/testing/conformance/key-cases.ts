import type { Store } from "../../store/store.js";
import { expectSame } from "../expectation.js";
import { onFreshStore, type StoreCase } from "../store-under-test.js";
import { loneSurrogates, nastyNames, nastySubjects, windowOf } from "./sample-policies.js";
import { applyOne, charge, remaining } from "./store-calls.js";

/** Who is counted together, and who is not. */
export const keyCases: readonly StoreCase[] = [
  {
    name: "keeps every subject apart, whatever characters it holds and however long it is",
    run: (openStore) =>
      onFreshStore(openStore, (store) => expectApart(store, ["window"], nastySubjects)),
  },
  {
    name: "keeps subjects apart that differ in a lone surrogate alone",
    run: (openStore) =>
      onFreshStore(openStore, (store) => expectApart(store, ["window"], loneSurrogates)),
  },
  {
    name: "keeps policies apart, also when their names are members of Object.prototype",
    run: (openStore) =>
      onFreshStore(openStore, (store) =>
        expectApart(store, nastyNames, ["client", "constructor", "__proto__", "a:b"]),
      ),
  },
  {
    name: "keeps a policy and subject apart from others that read the same when joined",
    run: (openStore) =>
      onFreshStore(openStore, async (store) => {
        const [short, long] = [windowOf("a", 5), windowOf("a-b", 5)];
        await applyOne(store, charge(short, "-b:c"));
        await applyOne(store, charge(short, "b:c"));
        expectSame(await remaining(store, long, ":c"), 5, "remaining");
        expectSame(await remaining(store, long, "c"), 5, "remaining");
        expectSame(await remaining(store, short, ""), 5, "remaining of the empty subject");
      }),
  },
];

/** Charges each pair of policy and subject a different number of times, and expects to find just that. */
async function expectApart(
  store: Store,
  names: readonly string[],
  subjects: readonly string[],
): Promise<void> {
  const policies = names.map((name) => windowOf(name, 1_000));
  const charges = policies.flatMap((policy) => subjects.map((subject) => ({ policy, subject })));
  for (const [index, { policy, subject }] of charges.entries())
    await applyOne(store, charge(policy, subject, index + 1));
  for (const [index, { policy, subject }] of charges.entries()) {
    const what = `policy ${policy.name}, subject ${JSON.stringify(subject.slice(0, 20))}`;
    expectSame(await remaining(store, policy, subject), 999 - index, what);
  }
}
