export {
  type ActionCheck,
  type ActionRequest,
  type CheckRateLimitOptions,
  checkRateLimit,
} from "./check-rate-limit.js";
export {
  type LimitCheck,
  type RateLimitProxy,
  type RateLimitProxyOptions,
  rateLimitProxy,
} from "./rate-limit-proxy.js";
export type { RefusalHeaders } from "./response.js";
export type { ProxyRule } from "./rules.js";
export { sharedLimiter } from "./shared-limiter.js";
export {
  type LimitedContext,
  type RouteContext,
  type WithRateLimitOptions,
  withRateLimit,
} from "./with-rate-limit.js";
export {
  type ApiHandler,
  decisionOf,
  type WithRateLimitApiOptions,
  withRateLimitApi,
} from "./with-rate-limit-api.js";
