export type { Executor, ScriptCall } from "../executor.js";
export type { RedisStore, RedisStoreOptions } from "../script-store.js";
export { redisStore } from "./redis-store.js";
export { type UpstashClient, upstashExecutor } from "./upstash-executor.js";
