import { expect, test } from "vitest";
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
