import { expect, it } from "vitest";
import "../../src/policies/index.js";
import { definePolicy } from "../../src/policy/define.js";
import { memoryStore } from "../../src/store/memory/memory-store.js";
import type { ChargeReceipt } from "../../src/store/store.js";
import { ManualClock } from "../../src/testing/index.js";

const subject = "user=1";

it("gives nothing back to a state that had expired under the numbers it was written with", () => {
  const clock = new ManualClock(1_000);
  const store = memoryStore({ clock });
  const slow = definePolicy("api", { algorithm: "token-bucket", limit: 1, windowMs: 1_000 });
  const fast = definePolicy("api", { algorithm: "token-bucket", limit: 100, windowMs: 1_000 });
  const [charged] = store.apply([{ policy: slow, subject, cost: 1 }], "commit");
  store.apply([{ policy: fast, subject, cost: 1 }], "commit");
  clock.advance(20);
  store.refund([charged?.receipt as ChargeReceipt]);
  expect(store.apply([{ policy: fast, subject, cost: 0 }], "peek")[0]).toMatchObject({
    remaining: 100,
    resetMs: 0,
  });
});

it("keeps the version of a state that the numbers of an older version find expired", () => {
  const clock = new ManualClock(1_000);
  const store = memoryStore({ clock });
  const rule = { algorithm: "token-bucket", windowMs: 100 } as const;
  const old = definePolicy("api", { ...rule, limit: 6, burst: 8 });
  const fresh = definePolicy("api", { ...rule, limit: 2, burst: 7, version: 2, migrate: "reset" });
  const other = definePolicy("other", { ...rule, limit: 1 });
  store.apply([{ policy: fresh, subject, cost: 3 }], "commit");
  clock.advance(100);
  const beside = { policy: other, subject, cost: 1 };
  store.apply([{ policy: old, subject, cost: 7 }, beside], "commit");
  expect(store.apply([{ policy: fresh, subject, cost: 1 }], "commit")[0]).toMatchObject({
    allowed: false,
    remaining: 0,
  });
});

it("settles under a ban as without one, and tells of the ban", () => {
  const store = memoryStore({ clock: new ManualClock(1_000) });
  const penalty = { on: "manual", ban: "1m" };
  const policy = definePolicy("api", {
    algorithm: "fixed-window",
    limit: 3,
    window: "1h",
    penalty,
  });
  store.bans.set(policy, subject, 500);
  const settle = (cost: number) => store.apply([{ policy, subject, cost }], "settle")[0];
  const told = { remaining: 0, retryAfterMs: 0, banMs: 500 };
  expect(settle(2)).toMatchObject({ ...told, allowed: true, cost: 2 });
  expect(settle(2)).toMatchObject({ ...told, allowed: false, cost: 1 });
  expect(settle(2)).toMatchObject({ ...told, allowed: false, cost: 0 });
});
