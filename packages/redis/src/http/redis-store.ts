import { HeadgateError } from "@headgate/core";
import { type Executor, isExecutor } from "../executor.js";
import { checkOptions, type RedisStoreOptions, storeOptions } from "../options.js";
import { type RedisStore, ScriptStore } from "../script-store.js";

/**
 * Makes a store over an executor alone, such as `upstashExecutor(client)`: no TCP client is loaded, so it
 * runs on Edge.
 *
 * @throws HeadgateError `INVALID_OPTION`
 */
export function redisStore(executor: Executor, options: RedisStoreOptions = {}): RedisStore {
  checkOptions("redisStore", options, storeOptions);
  if (!isExecutor(executor)) {
    throw new HeadgateError(
      "INVALID_OPTION",
      "redisStore: pass an executor, such as upstashExecutor(client)",
    );
  }
  return new ScriptStore(executor, options);
}
