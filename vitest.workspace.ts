import { defineConfig } from "vitest/config";

const packages = ["core", "express", "redis", "next"];
const examples = ["express", "express-cluster"];

export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    projects: [
      ...packages.map((name) => project(name, [`packages/${name}/test/**/*.test.ts`])),
      project(
        "examples",
        examples.map((name) => `examples/${name}/test/**/*.test.mjs`),
      ),
      project("repository", ["scripts/test/**/*.test.ts"]),
    ],
  },
});

function project(name: string, include: string[]) {
  return { extends: true as const, test: { name, include } };
}
