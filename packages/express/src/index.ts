export type { Succeeded } from "./middleware.js";
export { type RateLimitOptions, rateLimit } from "./rate-limit.js";
export {
  type ChoosePolicies,
  decisionOf,
  type Limit,
  type LimitGroup,
  type MountOptions,
  type RateLimitsOptions,
  rateLimits,
} from "./rate-limits.js";
