import { describe, test } from "vitest";
import { memoryStore } from "../../src/store/memory/memory-store.js";
import type { OpenStore } from "../../src/testing/index.js";
import {
  envelopesOf,
  type Law,
  type LawSubject,
  lawsOf,
  refundLawsOf,
} from "../../src/testing/laws/index.js";

/** How many random histories each law is tried on: 1,000, or what `HEADGATE_HISTORIES` says. */
const histories = Number(process.env.HEADGATE_HISTORIES ?? 1_000);
const timeoutMs = Math.max(60_000, histories * 20);

const openStore: OpenStore = (clock) => memoryStore({ clock });

/** A test for each law, on the memory store. */
export function testLaws(laws: readonly Law[]): void {
  for (const { name, run } of laws)
    test(name, { timeout: timeoutMs }, () => run(openStore, { histories }));
}

/** A test for each law of one algorithm. */
export function testLawsOf(subject: LawSubject): void {
  describe(`${subject} in memory`, () => {
    describe("obeys the law of", () => testLaws(lawsOf(subject)));
    describe("obeys the refund law that", () => testLaws(refundLawsOf(subject)));
    describe("keeps to", () => testLaws(envelopesOf(subject)));
  });
}
