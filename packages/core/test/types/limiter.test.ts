import { expectTypeOf, test } from "vitest";
import {
  type Answer,
  type AsyncStore,
  createLimiter,
  type Decision,
  type Duration,
  definePolicy,
  fixedWindow,
  type Limiter,
  leakyBucket,
  type MemoryStore,
  memoryStore,
  type Policy,
  type Store,
  type SyncStore,
  systemClock,
  tokenBucket,
} from "../../src/index.js";
import { FakeStore } from "../limiter/fake-store.js";

const policies = {
  read: tokenBucket({ limit: 9, window: "1m" }),
  write: fixedWindow({ limit: 9, window: "1m", by: "user" }),
};
const identity = { ip: "192.0.2.1", user: "ann" };

/** Compiled, and never run. */
const compiled = (_: () => unknown): void => {};

test("policy names are checked by the compiler", () => {
  const limiter = createLimiter({ policies });
  expectTypeOf(limiter).toEqualTypeOf<Limiter<"read" | "write", MemoryStore>>();
  expectTypeOf(limiter.policies).toEqualTypeOf<Readonly<Record<"read" | "write", Policy>>>();
  limiter.check("read", identity);
  limiter.check(["read", "write"], identity, { cost: { write: 2 } });
  compiled(() => {
    // @ts-expect-error no such policy
    limiter.check("delete", identity);
    // @ts-expect-error one of them is none
    limiter.check(["read", "delete"], identity);
    // @ts-expect-error no such policy to reset
    limiter.reset("delete", identity);
    // @ts-expect-error a cost for a policy that is not there
    limiter.check("read", identity, { cost: { delete: 2 } });
    // @ts-expect-error no such option
    limiter.check("read", identity, { costs: 2 });
    // @ts-expect-error an identity's values are text
    limiter.check("read", { ip: 42 });
    // @ts-expect-error an identity is needed
    limiter.check("read");
  });
});

test("a store in this process answers at once", () => {
  const limiter = createLimiter({ policies, store: memoryStore() });
  expectTypeOf(limiter.check("read", identity)).toEqualTypeOf<Decision>();
  expectTypeOf(limiter.peek("read", identity)).toEqualTypeOf<Decision>();
  expectTypeOf(limiter.reset("read", identity)).toEqualTypeOf<void>();
  expectTypeOf(createLimiter({ policies }).check("read", identity)).toEqualTypeOf<Decision>();
});

test("a store elsewhere answers with a promise", async () => {
  const limiter = createLimiter({ policies, store: new FakeStore(systemClock) });
  expectTypeOf(limiter.check("read", identity)).toEqualTypeOf<Promise<Decision>>();
  expectTypeOf(limiter.reset("read", identity)).toEqualTypeOf<Promise<void>>();
  await limiter.check("read", identity);
});

test("a store chosen at run time answers with either", () => {
  const chosen = (process.env.REDIS_URL ? new FakeStore(systemClock) : memoryStore()) as
    | FakeStore
    | MemoryStore;
  const limiter = createLimiter({ policies, store: chosen });
  expectTypeOf(limiter.check("read", identity)).toEqualTypeOf<Decision | Promise<Decision>>();
  expectTypeOf<Answer<SyncStore, number>>().toEqualTypeOf<number>();
  expectTypeOf<Answer<AsyncStore, number>>().toEqualTypeOf<Promise<number>>();
  expectTypeOf<Answer<Store, number>>().toEqualTypeOf<number | Promise<number>>();
});

test("a limiter of any store serves where the store does not matter", () => {
  const sync: Limiter<"read" | "write"> = createLimiter({ policies });
  const elsewhere: Limiter<"read" | "write"> = createLimiter({
    policies,
    store: new FakeStore(systemClock),
  });
  expectTypeOf(sync).toEqualTypeOf(elsewhere);
});

test("builders take the options of their algorithm only", () => {
  const options = { limit: 1, window: "1m" } as const;
  expectTypeOf(leakyBucket({ ...options, queue: 0 }).queue).toEqualTypeOf<number>();
  compiled(() => {
    // @ts-expect-error a queue is needed
    leakyBucket(options);
    // @ts-expect-error a fixed window has no burst
    fixedWindow({ ...options, burst: 1 });
    // @ts-expect-error no such anchor
    fixedWindow({ ...options, anchor: "calendar" });
    // @ts-expect-error no such failure mode
    tokenBucket({ ...options, onStoreFailure: "fail" });
    // @ts-expect-error a limit is a number
    tokenBucket({ ...options, limit: "5" });
    // @ts-expect-error no such unit
    tokenBucket({ limit: 1, window: "1w" });
    // @ts-expect-error a unit is needed
    tokenBucket({ limit: 1, window: "60" });
  });
  expectTypeOf<"10s">().toExtend<Duration>();
});

test("policies and decisions are readonly", () => {
  const policy = definePolicy("api", policies.read);
  const decision = createLimiter({ policies }).check("read", identity);
  compiled(() => {
    // @ts-expect-error policies are frozen
    policy.limit = 5;
    // @ts-expect-error decisions do not change
    decision.allowed = true;
    // @ts-expect-error nor do their outcomes
    decision.outcomes.push(decision.outcomes[0]);
  });
});
