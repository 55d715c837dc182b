import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, test } from "vitest";
import { dueRules } from "./due-rules.js";

const folders = [import.meta.dirname, join(import.meta.dirname, "../../core/test/http")];

/** Everything that stands in a title, or in the first column of a table of golden vectors. */
const titles = folders
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
  )
  .filter((file) => file.endsWith(".test.ts"))
  .flatMap((file) => [
    ...readFileSync(file, "utf8").matchAll(
      /(?:\b(?:it|test|describe)\(\s*|\)\(\s*|^\s+\[\s*)(["'`])((?:(?!\1).)*)\1/gms,
    ),
  ])
  .map((match) => match[2] as string);

const named = new Set(
  titles.flatMap((title) =>
    [...title.matchAll(/\b(?:T|S|RA|X|M|I|B|C|H|E|G)-?\d+\b/g)].map(String),
  ),
);

test.each(dueRules)("rule %s has a test that names it", (rule) => {
  expect(named).toContain(rule);
});

it("no test names a rule that is not due", () => {
  expect([...named].filter((rule) => !dueRules.includes(rule))).toEqual([]);
});
