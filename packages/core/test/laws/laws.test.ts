import { describe, test } from "vitest";
import { memoryStore } from "../../src/store/memory/memory-store.js";
import type { OpenStore } from "../../src/testing/index.js";
import { lawSubjects, lawsOf } from "../../src/testing/laws/index.js";
import { histories, timeoutMs } from "./histories.js";

const openStore: OpenStore = (clock) => memoryStore({ clock });

describe.each(lawSubjects)("%s in memory obeys the law of", (subject) => {
  for (const { name, run } of lawsOf(subject))
    test(name, { timeout: timeoutMs }, () => run(openStore, { histories }));
});
