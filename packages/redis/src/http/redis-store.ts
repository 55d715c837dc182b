import { HeadgateError } from "@headgate/core";
import { type Executor, isExecutor } from "../executor.js";
import { type RedisStore, type RedisStoreOptions, ScriptStore } from "../script-store.js";

/**
 * Makes a store over an executor alone, such as `upstashExecutor(client)`: no TCP client is loaded, so it
 * runs on Edge.
 *
 * @throws HeadgateError `INVALID_OPTION`
 */
export function redisStore(executor: Executor, options: RedisStoreOptions = {}): RedisStore {
  if (!isExecutor(executor)) {
    throw new HeadgateError(
      "INVALID_OPTION",
      "redisStore: pass an executor, such as upstashExecutor(client)",
    );
  }
  return new ScriptStore(executor, options);
}
