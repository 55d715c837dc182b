import { defineConfig } from "vitest/config";

const examples = ["express", "express-cluster", "saas"];

/** A project of tests. Groups run one after the other, so that what is timed in one is not slowed by another. */
function project(name: string, include: readonly string[], { group = 0, workers = 2 } = {}) {
  return {
    extends: true as const,
    test: { name, include: [...include], sequence: { groupOrder: group }, maxWorkers: workers },
  };
}

export default defineConfig({
  test: {
    pool: "forks",
    testTimeout: 30_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 10_000 } },
    projects: [
      project("core", ["packages/core/test/**/*.test.ts"]),
      project("express", ["packages/express/test/**/*.test.ts"]),
      project("cli", ["packages/cli/test/**/*.test.ts"]),
      project("otel", ["packages/otel/test/**/*.test.ts"], { group: 2, workers: 1 }),
      project("repository", ["scripts/test/**/*.test.ts"]),
      project("next", ["packages/next/test/**/*.test.ts"], { group: 1 }),
      project("redis", ["packages/redis/test/**/*.test.ts"], { group: 2, workers: 1 }),
      project(
        "examples",
        examples.map((name) => `examples/${name}/test/**/*.test.mjs`),
        { group: 3, workers: 1 },
      ),
      project("bench", ["bench/test/**/*.test.mjs"], { group: 4, workers: 1 }),
    ],
  },
});
