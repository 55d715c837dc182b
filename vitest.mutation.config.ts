// The mutation run tests the core from its source, with nothing built: through its own tests, and through
// those of the Express adapter, since that is how most of core/http is met.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string) =>
  fileURLToPath(new URL(`packages/${path}/index.ts`, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^@headgate\/core$/, replacement: source("core/src") },
      { find: /^@headgate\/core\/http$/, replacement: source("core/src/http") },
      { find: /^@headgate\/core\/testing$/, replacement: source("core/src/testing") },
      { find: /^@headgate\/express$/, replacement: source("express/src") },
    ],
  },
  test: {
    include: ["packages/{core,express}/test/**/*.test.ts"],
    exclude: [
      // They replace text of the source, which the mutation run rewrites itself.
      "packages/core/test/faults/**",
      // What they show of the code that decides, others show at a lower price.
      "packages/core/test/laws/async-store.test.ts",
      "packages/*/test/types/**",
      "packages/express/test/types.test.ts",
    ],
    env: { HEADGATE_HISTORIES: "50" },
    testTimeout: 30_000,
  },
});
