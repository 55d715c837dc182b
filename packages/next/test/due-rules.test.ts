import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as navigation from "next/navigation.js";
import { expect, it } from "vitest";

const dueRules = ["C-7", ...Array.from({ length: 20 }, (_, index) => `N-${index + 1}`)];

/** What the titles of all tests here name. */
const named = new Set(
  readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" })
    .filter((file) => /(\.test|suite)\.ts$/.test(file))
    .flatMap(
      (file) =>
        readFileSync(join(import.meta.dirname, file), "utf8").match(/"(?:N|C)-\d+(?=: )/g) ?? [],
    )
    .map((quoted) => quoted.slice(1)),
);

it.each(dueRules)("rule %s has a test that names it", (rule) => {
  expect(named).toContain(rule);
});

it("N-18: Next has no interrupt that a refusal could throw", () => {
  expect(Object.keys(navigation)).toContain("forbidden");
  expect(Object.keys(navigation)).not.toContain("tooManyRequests");
});
