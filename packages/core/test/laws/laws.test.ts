import { describe, test } from "vitest";
import { memoryStore } from "../../src/store/memory/memory-store.js";
import type { OpenStore } from "../../src/testing/index.js";
import {
  compositeLaws,
  envelopesOf,
  type Law,
  lawSubjects,
  lawsOf,
  refundLawsOf,
} from "../../src/testing/laws/index.js";
import { histories, timeoutMs } from "./histories.js";

const openStore: OpenStore = (clock) => memoryStore({ clock });

function testAll(laws: readonly Law[]): void {
  for (const { name, run } of laws)
    test(name, { timeout: timeoutMs }, () => run(openStore, { histories }));
}

describe.each(lawSubjects)("%s in memory obeys the law of", (subject) => testAll(lawsOf(subject)));

describe.each(lawSubjects)("%s in memory obeys the refund law that", (subject) =>
  testAll(refundLawsOf(subject)),
);

describe.each(lawSubjects)("%s in memory keeps to", (subject) => testAll(envelopesOf(subject)));

describe("several policies in memory obey the law that", () => testAll(compositeLaws()));
