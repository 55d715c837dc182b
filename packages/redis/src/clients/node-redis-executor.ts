import { HeadgateError } from "@headgate/core";
import calculateSlot from "cluster-key-slot";
import type { Executor, ScriptCall } from "../executor.js";
import { checkOptions } from "../options.js";
import { keysOfPage, pagesOf } from "./pages.js";
import { readyOrClosed, type Watchable } from "./readiness.js";

/** A client, pool or cluster of the `redis` package (node-redis 5 or 6). */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  duplicate(...args: never[]): unknown;
  evalSha(...args: never[]): unknown;
}

/** The parts of node-redis that are used here. */
interface Connection extends Watchable {
  readonly isOpen: boolean;
  /** Absent from clusters of version 5. */
  readonly isReady?: boolean;
  /** Present on clusters alone, which tell of no `ready`. */
  readonly slots?: unknown;
  /** Present on clusters alone. */
  readonly masters?: readonly object[];
  nodeClient?(node: object): Connection | Promise<Connection>;
  scan(cursor: string, options: ScanOptions): Promise<ScanReply>;
  connect(): Promise<unknown>;
  destroy(): void;
  duplicate(options: object): Connection;
  evalSha(sha: string, call: EvalOptions): Promise<unknown>;
  eval(script: string, call: EvalOptions): Promise<unknown>;
}

interface ScanOptions {
  readonly MATCH: string;
  readonly COUNT: number;
}

interface ScanReply {
  readonly cursor: string;
  readonly keys: readonly string[];
}

interface EvalOptions {
  readonly keys: string[];
  readonly arguments: string[];
}

export interface NodeRedisExecutorOptions {
  /**
   * A connection of the executor's own, which queues nothing while offline, or the given one.
   * @default "own"
   */
  readonly connection?: "own" | "shared";
}

/**
 * Runs scripts on a client of the `redis` package, single or cluster. Its own connection is made at the
 * first call.
 *
 * @throws HeadgateError `INVALID_OPTION` for another kind of client
 */
export function nodeRedisExecutor(
  client: NodeRedisClient,
  options: NodeRedisExecutorOptions = {},
): Executor {
  checkOptions("nodeRedisExecutor", options, ["connection"]);
  const { connection = "own" } = options;
  if (typeof client?.evalSha !== "function" || typeof client.isOpen !== "boolean") {
    throw new HeadgateError(
      "INVALID_OPTION",
      'nodeRedisExecutor: the client must be one of the "redis" package',
    );
  }
  const given = client as unknown as Connection;
  return connection === "shared"
    ? new NodeRedisExecutor(given, false)
    : new NodeRedisExecutor(duplicateOf(given), true);
}

class NodeRedisExecutor implements Executor {
  readonly slotOf: ((key: string) => number) | undefined;
  readonly #connection: Connection;
  readonly #owned: boolean;
  #connecting: Promise<void> | undefined;
  #closed = false;

  constructor(connection: Connection, owned: boolean) {
    this.#connection = connection;
    this.#owned = owned;
    if (connection.slots !== undefined) this.slotOf = calculateSlot;
  }

  ready(): Promise<void> | undefined {
    const { isOpen, isReady = isOpen } = this.#connection;
    if (this.#connecting !== undefined) return this.#connecting;
    if (isReady) return undefined;
    if (isOpen || !this.#owned || this.#closed) throw new Error("not connected");
    const connection = this.#connection;
    const outcome =
      this.slotOf !== undefined
        ? connection.connect().then(() => undefined)
        : this.#connectSingle();
    this.#connecting = outcome.finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  run({ command, script, keys, args }: ScriptCall): Promise<unknown> {
    const call = { keys: [...keys], arguments: [...args] };
    return command === "EVALSHA"
      ? this.#connection.evalSha(script, call)
      : this.#connection.eval(script, call);
  }

  async *scan(pattern: string): AsyncGenerator<readonly string[]> {
    const cluster = this.#connection;
    for (const node of cluster.masters ?? [undefined]) {
      const client = (node && (await cluster.nodeClient?.(node))) ?? cluster;
      yield* pagesOf(async (from) => {
        const { cursor, keys } = await client.scan(from, { MATCH: pattern, COUNT: keysOfPage });
        return [cursor, keys];
      });
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#owned && this.#connection.isOpen) this.#connection.destroy();
  }

  // connect() goes on trying by itself; a first failure ends the wait of the calls, not the trying.
  #connectSingle(): Promise<void> {
    const readiness = readyOrClosed(this.#connection, ["error", "end"]);
    this.#connection.connect().catch(() => undefined);
    return readiness;
  }
}

function duplicateOf(client: Connection): Connection {
  // The client's own options may map the reply's numbers to other types.
  const commandOptions = {};
  const connection = client.duplicate(
    client.slots === undefined
      ? { disableOfflineQueue: true, commandOptions }
      : { defaults: { disableOfflineQueue: true }, commandOptions },
  );
  // Each call reports its own failure; without a listener an error would end the process.
  connection.on("error", () => undefined);
  return connection;
}
