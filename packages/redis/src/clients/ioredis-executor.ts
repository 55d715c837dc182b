import calculateSlot from "cluster-key-slot";
import type { Executor, ScriptCall } from "../executor.js";
import { asGlob } from "../keys.js";
import { ownClusterOptions, ownOptions } from "./ioredis-options.js";
import { keysOfPage, type Page, pagesOf } from "./pages.js";
import { readyOrClosed, type Watchable } from "./readiness.js";

/** A client of ioredis 5 or 6: a `Redis` (single server or Sentinel) or a `Cluster`. */
export interface IoredisClient {
  readonly status: string;
  readonly options: object;
  duplicate(...args: never[]): unknown;
  evalsha(...args: never[]): unknown;
}

/** The parts of ioredis that are used here. */
interface Connection extends Watchable {
  readonly status: string;
  readonly isCluster: boolean;
  readonly options: Readonly<Record<string, unknown>> & { readonly keyPrefix?: string };
  connect(): Promise<unknown>;
  disconnect(): void;
  evalsha(sha: string, keyCount: number, ...rest: readonly string[]): Promise<unknown>;
  eval(script: string, keyCount: number, ...rest: readonly string[]): Promise<unknown>;
  scan(cursor: string, ...options: readonly (string | number)[]): Promise<Page>;
  /** Present on clusters alone. */
  nodes?(role: "master"): readonly Connection[];
  duplicate(options: object): Connection;
  duplicate(nodes: readonly never[], options: object): Connection;
}

/** Whether a value is a client of ioredis. */
export function isIoredisClient(value: unknown): value is IoredisClient {
  const { status, options, duplicate, evalsha } = (value ?? {}) as Partial<IoredisClient>;
  return (
    typeof status === "string" &&
    typeof options === "object" &&
    typeof duplicate === "function" &&
    typeof evalsha === "function"
  );
}

/**
 * Runs scripts on an ioredis client.
 *
 * With `own`, on a connection of its own with the client's address, credentials, TLS and key prefix, which
 * sends nothing twice, queues nothing while offline, and never gives up reconnecting. With `shared`, on the
 * client itself, with whatever its options do.
 *
 * @param callTimeoutMs - how long calls may take; a connection that is silent for much longer is made anew
 */
export function ioredisExecutor(
  client: IoredisClient,
  connection: "own" | "shared",
  callTimeoutMs: number,
): Executor {
  const given = client as unknown as Connection;
  if (connection === "shared") {
    warnOfResend(given);
    return new IoredisExecutor(given, false);
  }
  return new IoredisExecutor(duplicateOf(given, callTimeoutMs), true);
}

class IoredisExecutor implements Executor {
  readonly slotOf: ((key: string) => number) | undefined;
  readonly #connection: Connection;
  readonly #owned: boolean;
  #readiness: Promise<void> | undefined;

  constructor(connection: Connection, owned: boolean) {
    this.#connection = connection;
    this.#owned = owned;
    const { keyPrefix = "" } = connection.options;
    if (connection.isCluster) this.slotOf = (key) => calculateSlot(keyPrefix + key);
  }

  ready(): Promise<void> | undefined {
    const { status } = this.#connection;
    if (status === "ready") return undefined;
    if (status !== "wait" && status !== "connecting" && status !== "connect") {
      throw new Error(`not connected (${status})`);
    }
    if (this.#readiness === undefined) {
      this.#readiness = readyOrClosed(this.#connection, ["close", "end"]).finally(() => {
        this.#readiness = undefined;
      });
      // The event tells how it went, and the caller of ready() hears of it.
      if (status === "wait") this.#connection.connect().catch(() => undefined);
    }
    return this.#readiness;
  }

  run({ command, script, keys, args }: ScriptCall): Promise<unknown> {
    return command === "EVALSHA"
      ? this.#connection.evalsha(script, keys.length, ...keys, ...args)
      : this.#connection.eval(script, keys.length, ...keys, ...args);
  }

  // The client puts its key prefix before keys, not before a pattern.
  async *scan(pattern: string): AsyncGenerator<readonly string[]> {
    const { keyPrefix = "" } = this.#connection.options;
    const whole = asGlob(keyPrefix) + pattern;
    for (const node of this.#connection.nodes?.("master") ?? [this.#connection]) {
      const ask = (cursor: string): Promise<Page> =>
        node.scan(cursor, "MATCH", whole, "COUNT", keysOfPage);
      for await (const keys of pagesOf(ask)) yield keys.map((key) => key.slice(keyPrefix.length));
    }
  }

  async close(): Promise<void> {
    if (this.#owned) this.#connection.disconnect();
  }
}

function duplicateOf(client: Connection, callTimeoutMs: number): Connection {
  const connection = client.isCluster
    ? client.duplicate([], ownClusterOptions(client.options, callTimeoutMs))
    : client.duplicate(ownOptions(callTimeoutMs));
  // Each call reports its own failure; without a listener ioredis prints every error.
  connection.on("error", () => undefined);
  return connection;
}

let warned = false;

function warnOfResend({ isCluster, options }: Connection): void {
  const { maxRetriesPerRequest, autoResendUnfulfilledCommands, retryDelayOnFailover } = options;
  const resends = isCluster
    ? retryDelayOnFailover !== 0
    : maxRetriesPerRequest !== 0 && autoResendUnfulfilledCommands !== false;
  if (!resends || warned) return;
  warned = true;
  process.emitWarning(
    "the shared Redis client sends unanswered commands again, so a lost reply can count a request twice; set maxRetriesPerRequest and, in a cluster, retryDelayOnFailover to 0, or let the store open its own connection",
    { type: "HeadgateWarning", code: "HEADGATE_REDIS_RESEND" },
  );
}
