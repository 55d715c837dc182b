import { type ApplyMode, capacityOf, definePolicy, memoryStore, type Policy } from "@headgate/core";
import { ManualClock, SteppingClock } from "@headgate/core/testing";
import { expect, test } from "vitest";
import { redisStore } from "../../src/index.js";
import { freshPrefix, patientMs, useSingleServer } from "../servers/single.js";
import { SeededRandom } from "./random.js";

const redis = useSingleServer();
const rules = ["keep", "scale", "reset"] as const;
const window = "1m";
const subject = "user=1";

const forms: readonly ((limit: number) => Readonly<Record<string, unknown>>)[] = [
  (limit) => ({ algorithm: "fixed-window", limit, window }),
  (limit) => ({ algorithm: "fixed-window", limit, window, anchor: "first-request" }),
  (limit) => ({ algorithm: "sliding-window", limit, window }),
  (limit) => ({ algorithm: "sliding-window-counter", limit, window }),
  (limit) => ({ algorithm: "token-bucket", limit, window }),
  (limit) => ({ algorithm: "leaky-bucket", limit, window, queue: limit - 1, maxDelayMs: 600_000 }),
];

/** Two processes with a version each call by turns at one instant; tells how much was admitted. */
async function admitted(
  versions: readonly [Policy, Policy],
  random: SeededRandom,
): Promise<number> {
  const clock = new ManualClock(1_700_000_000_000);
  const prefix = freshPrefix();
  const options = { prefix, clock, connection: "shared", callTimeoutMs: patientMs } as const;
  const stores = versions.map(() => redisStore(redis.client, options));
  let sum = 0;
  for (let count = 0; count < 40; count += 1) {
    const at = random.integer(2);
    const charge = { policy: versions[at] as Policy, subject, cost: 1 + random.integer(2) };
    const [outcome] = (await stores[at]?.apply([charge], "commit")) ?? [];
    if (outcome?.allowed === true) sum += charge.cost;
  }
  return sum;
}

/** What two versions may admit together at one instant: the older one may go on after a state was made smaller. */
function mostOf(old: Policy, fresh: Policy): number {
  const [a, b] = [capacityOf(old), capacityOf(fresh)];
  const kept = fresh.migrate === "keep" || (fresh.migrate === "scale" && a <= b);
  return kept ? Math.max(a, b) : a + Math.max(a, b);
}

for (const migrate of rules) {
  test(`admits what ${migrate} promises and no more while two versions take turns`, async () => {
    const random = new SeededRandom();
    console.log(`versions under ${migrate}: HEADGATE_SEED=${random.seed}`);
    for (const before of forms) {
      for (const after of forms) {
        for (const [small, large] of [
          [3, 8],
          [8, 3],
        ] as const) {
          const old = definePolicy("api", before(small));
          const fresh = definePolicy("api", { ...after(large), version: 2, migrate });
          // Of two queues the next free slot keeps its instant, not the number of those who wait.
          if (old.algorithm === "leaky-bucket" && fresh.algorithm === "leaky-bucket") continue;
          const sum = await admitted([old, fresh], random);
          const what = `${old.algorithm} of ${small}, then ${fresh.algorithm} of ${large}`;
          expect(sum, what).toBeLessThanOrEqual(mostOf(old, fresh));
          expect(sum, what).toBeGreaterThanOrEqual(2);
        }
      }
    }
  });
}

test("keeps the count of a caller whose tier changes in the middle of a window, in both directions", async () => {
  const clock = new ManualClock(1_700_000_000_000);
  for (const form of forms) {
    const store = redisStore(redis.client, {
      prefix: freshPrefix(),
      clock,
      connection: "shared",
      callTimeoutMs: patientMs,
    });
    const [free, pro] = [5, 20].map((limit) => definePolicy("api", form(limit))) as [
      Policy,
      Policy,
    ];
    const use = async (policy: Policy, cost = 1) =>
      (await store.apply([{ policy, subject, cost }], "commit"))[0];
    expect((await use(free, 5))?.remaining, free.algorithm).toBe(0);
    expect((await use(free))?.allowed).toBe(false);
    expect(await use(pro)).toMatchObject({ allowed: true, remaining: 14 });
    expect(await use(free)).toMatchObject({ allowed: false, remaining: 0 });
  }
});

test("gives a refunded key the TTL of the numbers that its state was written under", async () => {
  const store = redisStore(redis.client, {
    prefix: "ttl",
    connection: "shared",
    callTimeoutMs: patientMs,
  });
  const rule = { algorithm: "token-bucket", window: "1h", burst: 100 } as const;
  const [slow, fast] = [1, 1_000].map((limit) => definePolicy("api", { ...rule, limit })) as [
    Policy,
    Policy,
  ];
  const [made] = await store.apply([{ policy: fast, subject, cost: 50 }], "commit");
  await store.apply([{ policy: slow, subject, cost: 2 }], "commit");
  if (made?.receipt === undefined) throw new Error("an admitted charge has a receipt");
  await store.refund([made.receipt]);
  expect(await redis.client.pttl(`ttl:{${subject}}:api`)).toBeGreaterThan(3_600_000);
});

test("keeps a state that a refund has emptied for as long as it would have counted, if a higher version has written it", async () => {
  const store = redisStore(redis.client, {
    prefix: "emptied",
    connection: "shared",
    callTimeoutMs: patientMs,
  });
  const key = `emptied:{${subject}}:api`;
  // A place in a queue that nobody waits in is used at once, so it is not given back.
  for (const form of forms.slice(0, -1)) {
    for (const version of [1, 2]) {
      const policy = definePolicy("api", { ...form(5), version });
      const [made] = await store.apply([{ policy, subject, cost: 5 }], "commit");
      const ttlMs = await redis.client.pttl(key);
      if (made?.receipt === undefined) throw new Error("an admitted charge has a receipt");
      await store.refund([made.receipt]);
      const leftMs = await redis.client.pttl(key);
      if (version === 1) expect(leftMs, `${policy.algorithm}: no key`).toBe(-2);
      else expect(ttlMs - leftMs, `${policy.algorithm}: since then`).toBeLessThan(5_000);
      if (version === 2) expect(leftMs, `${policy.algorithm}: TTL`).toBeGreaterThan(0);
      await store.reset(policy, subject);
    }
  }
});

test("counts as exactly as memory where a converted state holds as much as numbers can, under an earlier clock too", async () => {
  const clock = new SteppingClock(1_700_000_000_000);
  const store = redisStore(redis.client, {
    prefix: freshPrefix(),
    clock,
    callTimeoutMs: patientMs,
  });
  const memory = memoryStore({ clock });
  const huge = { algorithm: "sliding-window", limit: 2 ** 52 - 5, windowMs: 70 } as const;
  const log = definePolicy("api", huge);
  const queue = definePolicy("api", { algorithm: "leaky-bucket", limit: 1, windowMs: 3, queue: 0 });
  const both = async (policy: Policy, cost: number, mode: ApplyMode) => {
    const expected = memory.apply([{ policy, subject, cost }], mode);
    expect(await store.apply([{ policy, subject, cost }], mode)).toStrictEqual(expected);
    return expected[0]?.resetMs;
  };
  await both(log, huge.limit, "commit");
  const resetMs = (await both(queue, 0, "peek")) as number;
  expect(resetMs).toBeGreaterThan(2 ** 52);
  clock.set(clock.now() - 66);
  expect(await both(queue, 0, "peek")).toBe(resetMs + 66);
});
