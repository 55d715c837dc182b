import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root, tool } from "../workspace.mjs";

/** One forbidden import each: the rule it breaks, the file, and what the file imports. */
const forbidden: readonly (readonly [rule: string, file: string, specifier: string])[] = [
  ["core-errors", "core/dist/errors.js", "./clock.js"],
  ["core-own-value", "core/dist/own-value.js", "./clock.js"],
  ["core-clock", "core/dist/clock.js", "./policy/index.js"],
  ["core-policy", "core/dist/policy/looks-at-store.js", "../store/store.js"],
  ["core-algorithms", "core/dist/algorithms/looks-at-clock.js", "../clock.js"],
  ["core-algorithms", "core/dist/algorithms/looks-at-store.js", "../store/store.js"],
  ["core-decision", "core/dist/decision/looks-at-limiter.js", "../limiter/index.js"],
  ["core-store", "core/dist/store/looks-at-limiter.js", "../limiter/index.js"],
  ["core-limiter", "core/dist/limiter/looks-at-http.js", "../http/index.js"],
  ["core-warnings", "core/dist/warnings.js", "./clock.js"],
  ["core-listener", "core/dist/listener.js", "./clock.js"],
  ["core-identity", "core/dist/identity/looks-at-limiter.js", "../limiter/index.js"],
  ["core-known-folders", "core/dist/novelty/index.js", "../errors.js"],
  ["core-http", "core/dist/http/looks-at-schema.js", "../schema/index.js"],
  ["core-extension", "core/dist/extension.js", "./policies/index.js"],
  ["core-events", "core/dist/events/looks-at-http.js", "../http/index.js"],
  ["core-failsafe", "core/dist/failsafe/looks-at-limiter.js", "../limiter/index.js"],
  ["core-policies", "core/dist/policies/looks-at-http.js", "../http/index.js"],
  ["core-schema", "core/dist/schema/looks-at-limiter.js", "../limiter/index.js"],
  ["core-testing", "core/dist/testing/looks-at-http.js", "../http/index.js"],
  ["algorithms-only-under-memory", "core/dist/store/runs-algorithms.js", "../algorithms/index.js"],
  ["core-index-without-extras", "core/dist/index.js", "./schema/index.js"],
  ["core-no-node", "core/dist/limiter/looks-at-node.js", "node:fs"],
  ["core-few-dependencies", "core/dist/http/looks-at-express.js", "express"],
  ["core-few-dependencies", "core/dist/store/looks-at-redis.js", "ioredis"],
  ["zod-only-in-schema", "core/dist/policy/looks-at-zod.js", "zod"],
  ["zod-only-in-schema", "express/dist/looks-at-zod.js", "zod"],
  ["fast-check-only-in-testing", "core/dist/limiter/looks-at-fast-check.js", "fast-check"],
  ["core-imports-no-package", "core/dist/http/looks-at-adapter.js", "@headgate/express"],
  ["adapters-import-core-and-http", "express/dist/looks-at-redis.js", "@headgate/redis"],
  ["adapters-import-core-and-http", "next/dist/looks-at-express.js", "@headgate/express"],
  ["adapters-import-core-and-http", "next/dist/looks-at-testing.js", "@headgate/core/testing"],
  ["zod-only-in-schema", "core/dist/bundle/shared.js", "zod"],
  ["adapters-import-core-and-http", "express/dist/reaches-in.js", "../../core/dist/clock.js"],
  ["redis-imports-core", "redis/dist/looks-at-express.js", "@headgate/express"],
  ["redis-imports-core", "redis/dist/looks-at-http.js", "@headgate/core/http"],
  ["cli-imports-core", "cli/dist/looks-at-express.js", "@headgate/express"],
  ["cli-imports-core", "cli/dist/looks-at-testing.js", "@headgate/core/testing"],
  ["nothing-imports-cli", "redis/dist/looks-at-cli.js", "@headgate/cli"],
  ["otel-imports-core", "otel/dist/looks-at-express.js", "@headgate/express"],
  ["otel-imports-core", "otel/dist/looks-at-http.js", "@headgate/core/http"],
  ["no-source-of-a-package", "redis/dist/looks-at-source.js", "../../core/src/clock.js"],
  ["no-cycles", "core/dist/limiter/a-cycle.js", "./cycle-back.js"],
  ["resolvable", "core/dist/limiter/looks-nowhere.js", "./nowhere.js"],
];

/** Imports along the arrows: none of them may be reported. */
const allowed: readonly (readonly [file: string, specifier: string])[] = [
  ["core/dist/policy/index.js", "../errors.js"],
  ["core/dist/algorithms/index.js", "../policy/index.js"],
  ["core/dist/store/memory/index.js", "../../algorithms/index.js"],
  ["core/dist/limiter/index.js", "../store/store.js"],
  ["core/dist/http/index.js", "../limiter/index.js"],
  ["core/dist/testing/index.js", "../limiter/index.js"],
  ["core/dist/schema/index.js", "zod"],
  ["core/dist/bundle/schema.js", "zod"],
  ["core/dist/limiter/cycle-back.js", "./a-cycle.js"],
  ["core/dist/testing/laws/index.js", "fast-check"],
  ["core/dist/bundle/testing-laws.js", "fast-check"],
  ["express/dist/index.js", "@headgate/core/http"],
  ["express/dist/uses-core.js", "@headgate/core"],
  ["next/dist/index.js", "@headgate/core"],
  ["redis/dist/index.js", "@headgate/core"],
  ["redis/dist/uses-failsafe.js", "@headgate/core/failsafe"],
  ["redis/dist/uses-policies.js", "@headgate/core/policies"],
  ["core/dist/policies/index.js", "../limiter/index.js"],
  ["cli/dist/uses-core.js", "@headgate/core"],
  ["cli/dist/uses-schema.js", "@headgate/core/schema"],
  ["core/dist/events/index.js", "../limiter/index.js"],
  ["otel/dist/index.js", "@headgate/core/events"],
];

const bare = [
  "core/dist/store/store.js",
  "core/src/clock.js",
  "cli/dist/bundle/index.js",
  "core/dist/bundle/index.js",
  "core/dist/bundle/events.js",
  "core/dist/bundle/failsafe.js",
  "core/dist/bundle/http.js",
  "core/dist/bundle/policies.js",
  "core/dist/bundle/testing.js",
  "express/dist/bundle/index.js",
  "redis/dist/bundle/index.js",
];
const installed = ["express", "ioredis", "zod", "fast-check"];

interface Violation {
  readonly from: string;
  readonly rule: { readonly name: string };
}

describe("the import rule", () => {
  const folder = mkdtempSync(join(tmpdir(), "headgate-imports-"));
  let violations: readonly string[] = [];

  beforeAll(() => {
    layOut(folder);
    violations = violationsIn(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(forbidden)("%s bites when %s imports %s", (rule, file) => {
    expect(violations).toContain(`${rule}: packages/${file}`);
  });

  it.each(allowed)("lets %s import %s", (file) => {
    const reported = violations.filter((violation) => violation.endsWith(`: packages/${file}`));
    expect(reported.filter((violation) => !violation.startsWith("no-cycles"))).toEqual([]);
  });

  it("has every rule covered by a forbidden import", async () => {
    const { default: config } = await import("../../.dependency-cruiser.mjs");
    const names = config.forbidden.map(({ name }: { name: string }) => name);
    expect(new Set(forbidden.map(([rule]) => rule))).toEqual(new Set(names));
  });
});

function layOut(folder: string): void {
  for (const [, file, specifier] of forbidden)
    write(folder, `packages/${file}`, `import "${specifier}";\n`);
  for (const [file, specifier] of allowed)
    write(folder, `packages/${file}`, `import "${specifier}";\n`);
  for (const file of bare) write(folder, `packages/${file}`, "");
  mkdirSync(join(folder, "node_modules/@headgate"), { recursive: true });
  for (const name of ["core", "express", "redis", "next", "cli", "otel"]) {
    cpSync(
      join(root, `packages/${name}/package.json`),
      join(folder, `packages/${name}/package.json`),
    );
    symlinkSync(join(folder, `packages/${name}`), join(folder, `node_modules/@headgate/${name}`));
  }
  for (const name of installed) {
    write(folder, `node_modules/${name}/package.json`, `{ "name": "${name}", "main": "index.js" }`);
    write(folder, `node_modules/${name}/index.js`, "");
  }
  cpSync(join(root, ".dependency-cruiser.mjs"), join(folder, ".dependency-cruiser.mjs"));
  writeFileSync(join(folder, "package.json"), "{}");
}

function write(folder: string, file: string, content: string): void {
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

function violationsIn(folder: string): readonly string[] {
  const args = ["--config", ".dependency-cruiser.mjs", "--output-type", "json", "packages"];
  const { stdout, stderr } = spawnSync(tool("depcruise"), args, {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  if (stdout === "") throw new Error(stderr);
  const { summary } = JSON.parse(stdout) as { summary: { violations: Violation[] } };
  return summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`);
}
