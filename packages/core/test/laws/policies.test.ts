import { describe } from "vitest";
import { policyLaws } from "../../src/testing/laws/index.js";
import { testLaws } from "./law-tests.js";

describe("policies beyond plain limits in memory obey the law that", () => testLaws(policyLaws()));
