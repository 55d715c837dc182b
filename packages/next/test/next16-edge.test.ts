import { describe } from "vitest";
import { describeRuntime } from "./server/runtime-suite.js";
import { next16Edge } from "./server/variants.js";

describe("N-1: Next 16 with middleware.js on Edge", () => describeRuntime(next16Edge));
