import { describe } from "vitest";
import { describeRuntime } from "./server/runtime-suite.js";
import { next16Proxy } from "./server/variants.js";

describe("N-1: Next 16 with proxy.js", () => describeRuntime(next16Proxy));
