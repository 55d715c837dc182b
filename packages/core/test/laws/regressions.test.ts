import { expect, test } from "vitest";
import { StampLog } from "../../src/algorithms/stamp-log.js";
import { definePolicy } from "../../src/policy/define.js";
import { memoryStore } from "../../src/store/memory/memory-store.js";
import { ManualClock } from "../../src/testing/index.js";

test("the exact window counts to the last unit however many units have passed through it", () => {
  const clock = new ManualClock(1_000_000);
  const store = memoryStore({ clock });
  const limit = 2 ** 52 - 1;
  const policy = definePolicy("log", { algorithm: "sliding-window", limit, windowMs: 3 });
  const remainingAfter = (cost: number) =>
    store.apply([{ policy, subject: "client", cost }], "commit")[0]?.remaining;
  // A unit each millisecond keeps the log from ever being empty, which would start its totals afresh.
  for (let round = 0; round < 10; round += 1) {
    expect(remainingAfter(limit - 2)).toBe(round === 0 ? 2 : 1);
    clock.advance(2);
    expect(remainingAfter(1)).toBe(1);
    clock.advance(1);
  }
});

test("the exact window's log shrinks to what is left at once, and holds memory for no more", () => {
  const log = new StampLog();
  for (let stamp = 1; stamp <= 100_000; stamp += 1) log.append(stamp, 1);
  expect(log.capacity).toBeLessThan(2 * 100_000);
  log.dropThrough(99_997);
  expect([log.units, log.capacity]).toEqual([3, 8]);
  expect([log.stampOfUnit(1), log.newest]).toEqual([99_998, 100_000]);
  log.dropThrough(100_000);
  expect([log.units, log.capacity]).toEqual([0, 2]);
});
