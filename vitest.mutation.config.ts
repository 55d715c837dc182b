// The mutation run needs one project that tests the core from its source, and nothing built.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/core/test/**/*.test.ts"],
    testTimeout: 30_000,
  },
});
