import { expect, test } from "vitest";
import { decisionOf } from "../../src/decision/decision.js";
import { RequestRecord } from "../../src/http/record.js";
import { definePolicy } from "../../src/policy/define.js";
import { memoryStore } from "../../src/store/memory/memory-store.js";

const policy = definePolicy("api", { algorithm: "fixed-window", limit: 10, window: "1m" });

test("a request pays the dearest of its mounts once, whatever it paid in parts", () => {
  const record = new RequestRecord();
  const store = memoryStore();
  const pay = (cost: number): number => {
    const charge = record.unpaid(store, { policy, subject: "ip=192.0.2.1", cost });
    if (charge === undefined) return 0;
    const decision = decisionOf(store.apply([charge], "commit"));
    record.add({ store, charges: [charge], decision, nowMs: 0, shown: true });
    return charge.cost;
  };

  expect([1, 3, 3, 2, 4, 4].map(pay)).toEqual([1, 2, 0, 0, 1, 0]);
});

test("what was refused is not paid, so that another mount asks for it again", () => {
  const record = new RequestRecord();
  const store = memoryStore();
  const charge = { policy, subject: "ip=192.0.2.1", cost: 11 };
  const decision = decisionOf(store.apply([charge], "commit"));
  expect(decision.allowed).toBe(false);
  record.add({ store, charges: [charge], decision, nowMs: 0, shown: true });
  expect(record.unpaid(store, charge)).toEqual(charge);
});
