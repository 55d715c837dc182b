export { type Clock, type Millis, systemClock } from "./clock.js";
export type { Decision, Degraded, Reason } from "./decision/decision.js";
export { type ErrorCode, HeadgateError } from "./errors.js";
export { type Identity, subjectOf } from "./identity/subject.js";
export {
  type Answer,
  type CheckOptions,
  type Cost,
  createLimiter,
  type DecideOptions,
  type Limiter,
} from "./limiter/limiter.js";
export type { LimiterOptions } from "./limiter/options.js";
export {
  fixedWindow,
  leakyBucket,
  type PenaltyOptions,
  type PolicyOptions,
  slidingWindow,
  slidingWindowCounter,
  tokenBucket,
} from "./policy/builders.js";
export { capacityOf } from "./policy/capacity.js";
export { definePolicy } from "./policy/define.js";
export type { Duration } from "./policy/duration.js";
export type {
  AlgorithmName,
  Counted,
  FailureMode,
  FixedWindow,
  KeyBy,
  KeyParts,
  LeakyBucket,
  MigrationRule,
  Penalty,
  Policy,
  PolicyDefinition,
  PolicyNumbers,
  SlidingWindow,
  SlidingWindowCounter,
  TokenBucket,
} from "./policy/policy.js";
export {
  type MemoryStore,
  type MemoryStoreOptions,
  memoryStore,
} from "./store/memory/memory-store.js";
export type {
  ApplyMode,
  AsyncStore,
  Ban,
  Bans,
  BreakerState,
  Charge,
  ChargeReceipt,
  FailsafeOptions,
  Outcome,
  SafeStore,
  SafeStoreEvent,
  Store,
  SyncStore,
} from "./store/store.js";
export { warnOnce } from "./warnings.js";
