import { expect, test } from "vitest";
import type { HeadgateError } from "../../src/errors.js";
import { createLimiter } from "../../src/limiter/limiter.js";
import { fixedWindow } from "../../src/policy/builders.js";
import { ManualClock } from "../../src/testing/index.js";
import { FakeStore, failing } from "./fake-store.js";

const ann = { user: "ann" };

function twoLimiters() {
  const clock = new ManualClock(1_700_000_000_000);
  const store = new FakeStore(clock);
  const errors: HeadgateError[] = [];
  const limiterOf = (limit: number) =>
    createLimiter({
      clock,
      store,
      onStoreError: (error) => errors.push(error),
      policies: { api: fixedWindow({ limit, window: "1m", by: "user" }) },
    });
  return { clock, store, errors, right: limiterOf(5), wrong: limiterOf(50) };
}

test("one name for two different policies rejects, and is not taken for an outage", async () => {
  const { right, wrong, errors } = twoLimiters();
  await right.check("api", ann);
  for (let call = 0; call < 6; call += 1)
    await expect(wrong.check("api", ann)).rejects.toMatchObject({ code: "POLICY_CONFLICT" });
  expect(errors).toEqual([]);
  expect(await right.check("api", ann)).toMatchObject({ degraded: "none", remaining: 3 });
});

test("a probe that finds such a mistake leaves the breaker open for the next one", async () => {
  const { clock, store, right, wrong } = twoLimiters();
  await right.check("api", ann);
  store.behaviour = failing;
  for (let call = 0; call < 5; call += 1) await right.check("api", ann);
  store.behaviour = store.well;
  expect(await right.check("api", ann)).toMatchObject({ degraded: "local" });
  clock.advance(1_000);
  await expect(wrong.check("api", ann)).rejects.toMatchObject({ code: "POLICY_CONFLICT" });
  expect(await right.check("api", ann)).toMatchObject({ degraded: "none", remaining: 3 });
});
