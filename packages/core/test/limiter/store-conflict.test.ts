import { expect, test } from "vitest";
import { createLimiter } from "../../src/limiter/limiter.js";
import { fixedWindow } from "../../src/policy/builders.js";
import { memoryStore } from "../../src/store/memory/memory-store.js";
import { ManualClock } from "../../src/testing/index.js";

const ann = { user: "ann" };
const conflict = expect.objectContaining({
  code: "POLICY_CONFLICT",
  message: 'policy "api": another limiter on this store has a different one of this version',
});

function onOneStore() {
  const clock = new ManualClock(1_700_000_000_000);
  const store = memoryStore({ clock });
  return (limit: number, version = 1) =>
    createLimiter({
      clock,
      store,
      policies: { api: fixedWindow({ limit, window: "1m", by: "user", version }) },
    });
}

test("one name and version for two different policies on one store is an error at construction", () => {
  const limiterOf = onOneStore();
  limiterOf(5);
  expect(() => limiterOf(50)).toThrow(conflict);
});

test("equal policies of two limiters on one store count together", () => {
  const limiterOf = onOneStore();
  const [one, other] = [limiterOf(5), limiterOf(5)];
  one.check("api", ann);
  expect(other.check("api", ann)).toMatchObject({ remaining: 3 });
});

test("another version of a policy may stand beside it, and they count together", () => {
  const limiterOf = onOneStore();
  const [old, changed] = [limiterOf(5), limiterOf(20, 2)];
  for (let call = 0; call < 5; call += 1) old.check("api", ann);
  expect(changed.check("api", ann)).toMatchObject({ allowed: true, remaining: 14 });
  expect(old.check("api", ann)).toMatchObject({ allowed: false, remaining: 0 });
});
