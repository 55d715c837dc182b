import { memoryStore } from "@headgate/core";
import { describe } from "vitest";
import { rateLimits } from "../src/index.js";
import { describeEndings } from "./endings-suite.js";
import { frameworks } from "./servers.js";

describe.each(frameworks)("%s", (_, framework) => {
  describeEndings({ framework, rateLimits, storeOf: (clock) => memoryStore({ clock }) });
});
