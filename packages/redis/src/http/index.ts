export type { Executor, ScriptCall } from "../executor.js";
export type { RedisStoreOptions } from "../options.js";
export type { RedisStore } from "../script-store.js";
export { redisStore } from "./redis-store.js";
export { type UpstashClient, upstashExecutor } from "./upstash-executor.js";
