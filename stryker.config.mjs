// Mutation tests of the code that decides. `npm run test:mutation` runs every part and writes reports/mutation.
const part = process.env.HEADGATE_MUTATE ?? "decisions";

const mutated = {
  decisions: [
    "packages/core/src/{algorithms,limiter,failsafe}/**/*.ts",
    "packages/core/src/store/memory/**/*.ts",
  ],
  policies: ["packages/core/src/policies/**/*.ts"],
  http: ["packages/core/src/http/**/*.ts"],
};

export default {
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner"],
  // Stryker rewrites tsconfig files through an interface that TypeScript 7 lacks; Vitest reads none.
  tsconfigFile: "none",
  vitest: { configFile: "vitest.mutation.config.ts" },
  mutate: [...mutated[part], "!**/index.ts"],
  coverageAnalysis: "perTest",
  concurrency: 2,
  timeoutMS: 5_000,
  ignorePatterns: ["dist", "reports", "examples", "docs", "packages/{next,redis}/{test,.apps}"],
  reporters: ["clear-text", "progress-append-only", "html", "json"],
  htmlReporter: { fileName: `reports/mutation/${part}.html` },
  jsonReporter: { fileName: `reports/mutation/${part}.json` },
  thresholds: { high: 90, low: 80, break: 80 },
};
