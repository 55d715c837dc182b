export { type RateLimitOptions, rateLimit } from "./rate-limit.js";
export {
  type ChoosePolicies,
  decisionOf,
  type Limit,
  type RateLimitsOptions,
  rateLimits,
} from "./rate-limits.js";
