export type { IoredisClient } from "./clients/ioredis-executor.js";
export {
  type NodeRedisClient,
  type NodeRedisExecutorOptions,
  nodeRedisExecutor,
} from "./clients/node-redis-executor.js";
export type { Executor, ScriptCall } from "./executor.js";
export type { RedisStoreOptions } from "./options.js";
export { type IoredisStoreOptions, redisStore } from "./redis-store.js";
export type { RedisStore } from "./script-store.js";
