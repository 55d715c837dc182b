import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { entriesOf, publishedFolders, root } from "../workspace.mjs";

const entries = publishedFolders().flatMap((folder) =>
  entriesOf(folder).map(({ specifier }) => ({ folder, specifier })),
);

describe("every published entry", () => {
  it.each(entries)("$specifier loads through require()", ({ folder, specifier }) => {
    const names = printedBy(folder, `print(Object.keys(require("${specifier}")));`, "commonjs");
    expect(names).not.toEqual([]);
  });

  it.each(entries)("$specifier gives require() what it gives import", ({ folder, specifier }) => {
    const required = printedBy(folder, `print(Object.keys(require("${specifier}")));`, "commonjs");
    expect(required).toEqual(publicNames(folder, specifier));
  });
});

describe("@headgate/core", () => {
  it("loads no zod", () => {
    expect(loadedBy("packages/core", "@headgate/core", "zod")).toEqual([]);
  });

  it("loads zod only as @headgate/core/schema", () => {
    expect(loadedBy("packages/core", "@headgate/core/http", "zod")).toEqual([]);
    expect(loadedBy("packages/core", "@headgate/core/schema", "zod")).not.toEqual([]);
  });
});

describe("public names", () => {
  it("of @headgate/core", () => {
    expect(publicNames("packages/core", "@headgate/core")).toMatchInlineSnapshot(`
      [
        "HeadgateError",
        "capacityOf",
        "createLimiter",
        "definePolicy",
        "fixedWindow",
        "leakyBucket",
        "memoryStore",
        "slidingWindow",
        "slidingWindowCounter",
        "subjectOf",
        "systemClock",
        "tokenBucket",
        "warnOnce",
      ]
    `);
  });

  it("of @headgate/core/http", () => {
    expect(publicNames("packages/core", "@headgate/core/http")).toMatchInlineSnapshot(`
      [
        "Guard",
        "Holds",
        "RequestRecord",
        "addressFrom",
        "after",
        "canonicalAddress",
        "checkMounted",
        "checkedSucceeded",
        "clientOfAddress",
        "concludeAtEnd",
        "countsByRoute",
        "countsEndings",
        "endingOf",
        "inheritedNames",
        "isOver",
        "isSuccess",
        "mergeExposed",
        "recordOf",
        "resolveOptions",
        "writePlan",
      ]
    `);
  });

  it("of @headgate/core/events", () => {
    expect(publicNames("packages/core", "@headgate/core/events")).toMatchInlineSnapshot(`
      [
        "logDecisions",
        "observe",
      ]
    `);
  });

  it("of @headgate/core/failsafe", () => {
    expect(publicNames("packages/core", "@headgate/core/failsafe")).toMatchInlineSnapshot(`
      [
        "failsafe",
      ]
    `);
  });

  it("of @headgate/core/policies", () => {
    expect(publicNames("packages/core", "@headgate/core/policies")).toMatchInlineSnapshot(`
      [
        "awaitsEnding",
        "ban",
        "bans",
        "conclude",
        "peekAll",
        "refund",
        "settle",
        "unban",
      ]
    `);
  });

  it("of @headgate/core/schema", () => {
    expect(publicNames("packages/core", "@headgate/core/schema")).toMatchInlineSnapshot(`
      [
        "policyFileJsonSchema",
        "policyFileSchema",
        "policySchema",
        "readPolicies",
      ]
    `);
  });

  it("of @headgate/core/testing", () => {
    expect(publicNames("packages/core", "@headgate/core/testing")).toMatchInlineSnapshot(`
      [
        "ManualClock",
        "SteppingClock",
        "conformanceCases",
        "vectorCases",
      ]
    `);
  });

  it("of @headgate/core/testing/laws", () => {
    expect(publicNames("packages/core", "@headgate/core/testing/laws")).toMatchInlineSnapshot(`
      [
        "compositeLaws",
        "envelopesOf",
        "lawSubjects",
        "lawsOf",
        "policyLaws",
        "refundLawsOf",
      ]
    `);
  });

  it("of @headgate/express", () => {
    expect(publicNames("packages/express", "@headgate/express")).toMatchInlineSnapshot(`
      [
        "decisionOf",
        "rateLimit",
        "rateLimits",
      ]
    `);
  });

  it("of @headgate/redis", () => {
    expect(publicNames("packages/redis", "@headgate/redis")).toMatchInlineSnapshot(`
      [
        "nodeRedisExecutor",
        "redisStore",
      ]
    `);
  });

  it("of @headgate/redis/http", () => {
    expect(publicNames("packages/redis", "@headgate/redis/http")).toMatchInlineSnapshot(`
      [
        "redisStore",
        "upstashExecutor",
      ]
    `);
  });

  it("of @headgate/otel", () => {
    expect(publicNames("packages/otel", "@headgate/otel")).toMatchInlineSnapshot(`
      [
        "instrumentLimiter",
      ]
    `);
  });

  it("of @headgate/next", () => {
    expect(publicNames("packages/next", "@headgate/next")).toMatchInlineSnapshot(`
      [
        "checkRateLimit",
        "decisionOf",
        "rateLimitProxy",
        "sharedLimiter",
        "withRateLimit",
        "withRateLimitApi",
      ]
    `);
  });

  it("of @headgate/cli", () => {
    expect(publicNames("packages/cli", "@headgate/cli")).toMatchInlineSnapshot(`
      [
        "run",
      ]
    `);
  });
});

function publicNames(folder: string, specifier: string): unknown {
  const code = `print(Object.keys(await import("${specifier}")));`;
  return printedBy(folder, code, "module");
}

/** The specifiers within the package `wanted` that a fresh process resolves to load an entry. */
function loadedBy(folder: string, specifier: string, wanted: string): unknown {
  const hook = `
    import { writeSync } from "node:fs";
    export async function resolve(specifier, context, next) {
      if (specifier === "${wanted}" || specifier.startsWith("${wanted}/")) writeSync(2, specifier + " ");
      return next(specifier, context);
    }`;
  const code = `
    import { register } from "node:module";
    register("data:text/javascript," + encodeURIComponent(${JSON.stringify(hook)}));
    await import("${specifier}");`;
  return run(folder, code, "module")
    .stderr.split(" ")
    .filter((name) => name !== "");
}

/** What code in a fresh process inside the package hands to `print`, as a sorted list. */
function printedBy(folder: string, code: string, type: "module" | "commonjs"): unknown {
  const print = "const print = (names) => process.stdout.write(JSON.stringify(names.sort()));";
  return JSON.parse(run(folder, print + code, type).stdout);
}

function run(folder: string, code: string, type: "module" | "commonjs") {
  const args = ["--no-warnings", `--input-type=${type}`, "--eval", code];
  const child = spawnSync(process.execPath, args, { cwd: join(root, folder), encoding: "utf8" });
  if (child.status !== 0) throw new Error(child.stderr);
  return child;
}
