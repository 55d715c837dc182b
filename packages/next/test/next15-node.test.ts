import { describe } from "vitest";
import { describeRuntime } from "./server/runtime-suite.js";
import { next15Node } from "./server/variants.js";

describe("N-1: Next 15 with middleware.js on Node.js, a base path and locales", () =>
  describeRuntime(next15Node));
