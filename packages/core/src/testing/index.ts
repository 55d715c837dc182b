// The suites try policies that go beyond plain limits.
import "../policies/index.js";

export { conformanceCases } from "./conformance/store-cases.js";
export { vectorCases } from "./conformance/vector-cases.js";
export { ManualClock, SteppingClock } from "./manual-clock.js";
export type { OpenStore, StoreCase } from "./store-under-test.js";
