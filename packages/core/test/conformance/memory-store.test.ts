import { describe, test } from "vitest";
import { memoryStore } from "../../src/store/memory/memory-store.js";
import { conformanceCases, type OpenStore } from "../../src/testing/index.js";

const openStore: OpenStore = (clock) => memoryStore({ clock });

describe("the memory store", () => {
  for (const { name, run } of conformanceCases) test(name, () => run(openStore));
});
