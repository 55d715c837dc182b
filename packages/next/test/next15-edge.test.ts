import { describe } from "vitest";
import { describeRuntime } from "./server/runtime-suite.js";
import { next15Edge } from "./server/variants.js";

describe("N-1: Next 15 with middleware.js on Edge", () => describeRuntime(next15Edge));
