// The mutation run needs one project that tests the core from its source, and nothing built.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/core/test/**/*.test.ts"],
    // Planted faults replace text of the source, which the mutation run rewrites itself.
    exclude: ["packages/core/test/faults/**"],
    env: { HEADGATE_HISTORIES: "100" },
    testTimeout: 30_000,
  },
});
