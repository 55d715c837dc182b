import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { memoryStore } from "../../src/store/memory/memory-store.js";
import { type OpenStore, vectorCases } from "../../src/testing/index.js";

const folder = new URL("../../vectors/", import.meta.url);
const openStore: OpenStore = (clock) => memoryStore({ clock });

const files = readdirSync(folder).map((file) => ({
  name: file.replace(".json", ""),
  vectors: JSON.parse(readFileSync(new URL(file, folder), "utf8")) as {
    cases: { steps: unknown[] }[];
  },
}));

test("the vectors are all there", () => {
  const steps = files.flatMap(({ vectors }) => vectors.cases.flatMap((example) => example.steps));
  expect(files).toHaveLength(8);
  expect(steps).toHaveLength(10_765);
});

describe.each(files)("the memory store on $name", ({ name, vectors }) => {
  for (const { name: sentence, run } of vectorCases(name, vectors))
    test(sentence, () => run(openStore));
});
