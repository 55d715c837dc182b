import type { Executor } from "../executor.js";
import { type RedisStore, type RedisStoreOptions, ScriptStore } from "../script-store.js";

/**
 * Makes a store over an executor alone, such as `upstashExecutor(client)`: no TCP client is loaded, so it
 * runs on Edge.
 *
 * @throws HeadgateError `INVALID_OPTION`
 */
export function redisStore(executor: Executor, options: RedisStoreOptions = {}): RedisStore {
  return new ScriptStore(executor, options);
}
