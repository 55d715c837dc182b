import { describe } from "vitest";
import { compositeLaws } from "../../src/testing/laws/index.js";
import { testLaws } from "./law-tests.js";

describe("several policies in memory obey the law that", () => testLaws(compositeLaws()));
