import { definePolicy, type Policy } from "@headgate/core";
import calculateSlot from "cluster-key-slot";
import { expect, test } from "vitest";
import { type Executor, type RedisStore, redisStore, type ScriptCall } from "../../src/index.js";
import { freshPrefix, patientMs, useSingleServer } from "../servers/single.js";
import { until } from "../servers/until.js";

const redis = useSingleServer();

const loose = definePolicy("loose", { algorithm: "token-bucket", limit: 5, window: "24h" });
const tight = definePolicy("tight", { algorithm: "token-bucket", limit: 1, window: "24h" });

// In the order in which their slots are visited.
const [first, second, last] = ["user=1", "user=2", "user=3"].sort(
  (a, b) => calculateSlot(a) - calculateSlot(b),
) as [string, string, string];

const send = ({ command, script, keys, args }: ScriptCall): Promise<unknown> =>
  redis.client[command === "EVAL" ? "eval" : "evalsha"](script, keys.length, ...keys, ...args);

const isRefund = ({ args }: ScriptCall): boolean => args.some((text) => /^r\d*$/.test(text));

/** A store on the test's server that keeps slots apart as in a cluster. */
function slottedStore(run: Executor["run"] = send): RedisStore {
  const executor: Executor = {
    slotOf: (key) => calculateSlot(key),
    ready: () => undefined,
    run,
    scan: async function* () {
      yield await redis.client.keys("*");
    },
    close: async () => undefined,
  };
  return redisStore(executor, { prefix: freshPrefix(), callTimeoutMs: patientMs });
}

const charge = (policy: Policy, subject: string) => ({ policy, subject, cost: 1 });

async function remainingOf(store: RedisStore, policy: Policy, subject: string): Promise<number> {
  const [outcome] = await store.apply([{ policy, subject, cost: 0 }], "peek");
  return outcome?.remaining ?? -1;
}

test("gives each leg back once when the refund of one of them is sent again", async () => {
  let refused = 0;
  let done = false;
  // The server is late twice for the second subject's refund, so that has certainly not run.
  const store = slottedStore(async (call) => {
    if (!isRefund(call) || call.keys[0]?.includes(second) !== true) return send(call);
    if (refused === 2) {
      const reply = await send(call);
      done = true;
      return reply;
    }
    refused += 1;
    return [Date.now(), 1];
  });
  await store.apply([charge(loose, first)], "commit");
  await store.apply([charge(loose, second)], "commit");
  await store.apply([charge(tight, last)], "commit");
  const batch = [charge(loose, first), charge(loose, second), charge(tight, last)];
  await store.apply(batch, "commit");
  await until(async () => done);
  expect(await remainingOf(store, loose, second)).toBe(4);
  expect(await remainingOf(store, loose, first)).toBe(4);
  expect(store.lostRefunds).toBe(0);
});

test("remembers no refusal that a refund overtook", async () => {
  let answerPeek: (() => void) | undefined;
  const store = slottedStore(async (call) => {
    if (
      call.args.includes("p") &&
      call.keys[0]?.includes(last) === true &&
      answerPeek === undefined
    )
      await new Promise<void>((resolve) => {
        answerPeek = resolve;
      });
    return send(call);
  });
  const [admitted] = await store.apply([charge(tight, first)], "commit");
  if (admitted?.receipt === undefined) throw new Error("an admitted charge has a receipt");
  const batch = [charge(tight, first), charge(tight, last)];
  const refusal = store.apply(batch, "commit");
  await until(async () => answerPeek !== undefined);
  await store.refund([admitted.receipt]);
  answerPeek?.();
  expect((await refusal).map(({ allowed }) => allowed)).toEqual([false, true]);
  expect((await store.apply(batch, "commit")).map(({ allowed }) => allowed)).toEqual([true, true]);
});

test("remembers a refusal although what its other legs took is given back", async () => {
  let calls = 0;
  let refunded = false;
  const store = slottedStore(async (call) => {
    calls += 1;
    const reply = await send(call);
    refunded ||= isRefund(call);
    return reply;
  });
  await store.apply([charge(tight, last)], "commit");
  const batch = [charge(loose, first), charge(tight, last)];
  await store.apply(batch, "commit");
  await until(async () => refunded && (await remainingOf(store, loose, first)) === 5);
  const before = calls;
  expect((await store.apply(batch, "commit"))[1]?.allowed).toBe(false);
  expect(calls).toBe(before);
});

const penalty = { after: 2, within: "1h", ban: "1h" } as const;

test("counts strikes in the leg that refused, and refunds the earlier ones", async () => {
  const store = slottedStore();
  const guarded = definePolicy("guarded", {
    ...{ algorithm: "token-bucket", limit: 1, window: "24h" },
    penalty,
  });
  const spared = definePolicy("spared", { ...guarded, name: "spared", limit: 5, burst: 5 });
  await store.apply([charge(guarded, second)], "commit");
  const batch = [charge(spared, first), charge(guarded, second), charge(guarded, last)];
  const bansOf = async () => (await store.apply(batch, "commit")).map(({ banMs }) => banMs > 0);
  expect(await bansOf()).toEqual([false, false, false]);
  expect(await bansOf()).toEqual([false, true, false]);
  await until(async () => (await remainingOf(store, spared, first)) === 5);
  expect(await remainingOf(store, guarded, last)).toBe(1);
  expect(await store.bans.list([guarded, spared], 10)).toEqual([
    { policyName: "guarded", subject: second, endsInMs: expect.any(Number) },
  ]);
});

test("lets no shadow refuse a leg, and counts its refusals only where all others admit", async () => {
  const store = slottedStore();
  const shadow = definePolicy("shadow", {
    ...{ algorithm: "token-bucket", limit: 1, window: "24h" },
    shadow: true,
    penalty,
  });
  await store.apply([charge(shadow, first)], "commit");
  const bannedMs = async () =>
    (await store.apply([{ ...charge(shadow, first), cost: 0 }], "peek"))[0]?.banMs ?? 0;
  const verdicts = async (other: Policy) =>
    (await store.apply([charge(shadow, first), charge(other, last)], "commit")).map(
      ({ allowed }) => allowed,
    );
  await store.apply([charge(tight, last)], "commit");
  for (let count = 0; count < 3; count += 1) expect(await verdicts(tight)).toEqual([false, false]);
  expect(await bannedMs()).toBe(0);
  for (let count = 0; count < 2; count += 1) expect(await verdicts(loose)).toEqual([false, true]);
  await until(async () => (await bannedMs()) > 0);
  expect(await remainingOf(store, loose, last)).toBe(3);
});

test("settles each subject in its own slot", async () => {
  const store = slottedStore();
  const indebted = definePolicy("indebted", {
    ...{ algorithm: "fixed-window", limit: 3, window: "24h" },
    debt: 2,
  });
  const batch = [first, second, last].map((subject, index) => ({
    ...charge(indebted, subject),
    cost: 2 * index + 2,
  }));
  const settled = await store.apply(batch, "settle");
  expect(settled.map(({ allowed, cost }) => [allowed, cost])).toEqual([
    [true, 2],
    [true, 4],
    [false, 5],
  ]);
});
