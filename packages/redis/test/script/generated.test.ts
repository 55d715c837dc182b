import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { generatedFile, generatedModule } from "../../scripts/build-lua.mjs";

test("the generated module is the one that lua/ makes", () => {
  expect(readFileSync(generatedFile, "utf8")).toBe(generatedModule());
});
