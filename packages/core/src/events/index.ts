export type { Listeners } from "./audience.js";
export type {
  BanEvent,
  BreakerEvent,
  DecisionEvent,
  FirstRefusalEvent,
  LimiterEvent,
  ObservedCharge,
  StoreCallEvent,
  StoreErrorEvent,
} from "./event.js";
export { type DecisionLogger, type LogOptions, logDecisions } from "./log.js";
export { type Listener, observe } from "./observe.js";
