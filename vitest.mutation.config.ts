// The mutation run tests the core from its source, with nothing built: what decides through the core's own
// tests, and core/http through those of the Express adapter as well, since that is how it is mostly met.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const http = process.env.HEADGATE_MUTATE === "http";
const source = (path: string) =>
  fileURLToPath(new URL(`packages/${path}/index.ts`, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^@headgate\/core$/, replacement: source("core/src") },
      { find: /^@headgate\/core\/([a-z/]+)$/, replacement: source("core/src/$1") },
      { find: /^@headgate\/express$/, replacement: source("express/src") },
    ],
  },
  test: {
    include: http
      ? ["packages/core/test/http/**/*.test.ts", "packages/express/test/**/*.test.ts"]
      : ["packages/core/test/**/*.test.ts"],
    exclude: [
      // They replace text of the source, which the mutation run rewrites itself.
      "packages/core/test/faults/**",
      // What these show of the code under test, others show in less time.
      "packages/core/test/{identity,policy,schema,types,warnings}/**",
      "packages/core/test/laws/async-store.test.ts",
      "packages/express/test/{obedient-client,types}.test.ts",
    ],
    env: { HEADGATE_HISTORIES: "30" },
    testTimeout: 30_000,
  },
});
