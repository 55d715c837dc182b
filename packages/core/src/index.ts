export { type Clock, type Millis, systemClock } from "./clock.js";
export { type ErrorCode, HeadgateError } from "./errors.js";
export { capacityOf } from "./algorithms/index.js";
export { definePolicy } from "./policy/define.js";
export { fixedWindow, leakyBucket, slidingWindow, slidingWindowCounter, tokenBucket } from "./policy/builders.js";
export { type MemoryStore, type MemoryStoreOptions, memoryStore } from "./store/memory/memory-store.js";
