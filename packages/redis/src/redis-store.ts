import { HeadgateError } from "@headgate/core";
import {
  type IoredisClient,
  ioredisExecutor,
  isIoredisClient,
} from "./clients/ioredis-executor.js";
import { type Executor, isExecutor } from "./executor.js";
import { checkOptions, type RedisStoreOptions, storeOptions } from "./options.js";
import { type RedisStore, ScriptStore } from "./script-store.js";

export interface IoredisStoreOptions extends RedisStoreOptions {
  /**
   * For an ioredis client: a connection of the store's own with the client's address, credentials, TLS and
   * key prefix, or the client itself, whose options may then send a command twice.
   * @default "own"
   */
  readonly connection?: "own" | "shared";
}

/**
 * Makes a store over an ioredis client (single server, Sentinel or Cluster, version 5 or 6), or over an
 * executor for another client: `redisStore(nodeRedisExecutor(client))`.
 *
 * It may be made while Redis is down: calls fail until it is up, and then succeed.
 *
 * @throws HeadgateError `INVALID_OPTION`
 */
export function redisStore(
  client: IoredisClient | Executor,
  options: IoredisStoreOptions = {},
): RedisStore {
  checkOptions("redisStore", options, [...storeOptions, "connection"]);
  const { connection = "own", callTimeoutMs = 200 } = options;
  if (connection !== "own" && connection !== "shared") {
    throw new HeadgateError(
      "INVALID_OPTION",
      `redisStore: connection must be "own" or "shared", got ${JSON.stringify(connection)}`,
    );
  }
  if (isIoredisClient(client)) {
    return new ScriptStore(ioredisExecutor(client, connection, callTimeoutMs), options);
  }
  if (isExecutor(client)) return new ScriptStore(client, options);
  throw new HeadgateError(
    "INVALID_OPTION",
    "redisStore: the client must be one of ioredis 5 or 6, or an executor such as nodeRedisExecutor(client)",
  );
}
