// Mutation tests of the code that decides. `npm run test:mutation` writes reports/mutation.
export default {
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner"],
  // Stryker rewrites tsconfig files through an interface that TypeScript 7 lacks; Vitest reads none.
  tsconfigFile: "none",
  vitest: { configFile: "vitest.mutation.config.ts" },
  mutate: [
    "packages/core/src/{algorithms,limiter,http}/**/*.ts",
    "packages/core/src/store/memory/**/*.ts",
    "!**/index.ts",
  ],
  coverageAnalysis: "perTest",
  incremental: true,
  incrementalFile: "reports/mutation/incremental.json",
  concurrency: 2,
  timeoutMS: 20_000,
  ignorePatterns: ["dist", "reports", "examples", "docs"],
  reporters: ["clear-text", "progress-append-only", "html", "json"],
  htmlReporter: { fileName: "reports/mutation/index.html" },
  jsonReporter: { fileName: "reports/mutation/mutation.json" },
  thresholds: { high: 90, low: 80, break: 80 },
};
