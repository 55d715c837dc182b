/** A connection with outstanding calls that is silent for longer than this is taken for dead. */
const shortestSilenceMs = 1_000;

/** The options that make a duplicated single or Sentinel connection the store's own. */
export function ownOptions(callTimeoutMs: number): Readonly<Record<string, unknown>> {
  return {
    ...commandOptions(callTimeoutMs),
    retryStrategy: reconnectMs,
    sentinelRetryStrategy: reconnectMs,
    // A sentinel that accepts and never answers must not keep the others from being asked.
    sentinelCommandTimeout: silenceMs(callTimeoutMs),
    reconnectOnError: reconnectOnDemotion(),
  };
}

/** The same for a duplicated cluster. */
export function ownClusterOptions(
  options: Readonly<Record<string, unknown>>,
  callTimeoutMs: number,
): Readonly<Record<string, unknown>> {
  return {
    // Without this queue, calls to a node whose connection is just being made are refused. A cluster that is
    // not ready is never asked, and what waits too long in the queue is left undone by the server.
    enableOfflineQueue: true,
    enableAutoPipelining: false,
    scaleReads: "master",
    clusterRetryStrategy: reconnectMs,
    // What failed with its connection may have run, so it is not sent again.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: 20,
    redisOptions: {
      ...(options.redisOptions as object | undefined),
      ...commandOptions(callTimeoutMs),
      // The client's own rule could have a command sent again; a demoted node answers MOVED here.
      reconnectOnError: undefined,
    },
  };
}

function commandOptions(callTimeoutMs: number): Readonly<Record<string, unknown>> {
  return {
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    enableAutoPipelining: false,
    commandTimeout: undefined,
    socketTimeout: silenceMs(callTimeoutMs),
    stringNumbers: false,
  };
}

function silenceMs(callTimeoutMs: number): number {
  return Math.max(shortestSilenceMs, 4 * callTimeoutMs);
}

/**
 * Asks for a new connection when the server was demoted, to whatever the address now leads to: once, however
 * many calls of the old connection are answered alike.
 */
function reconnectOnDemotion(): (error: Error) => boolean {
  let askedAt = Number.NEGATIVE_INFINITY;
  return ({ message }) => {
    const now = performance.now();
    if (!message.startsWith("READONLY") || now - askedAt < shortestSilenceMs) return false;
    askedAt = now;
    return true;
  };
}

function reconnectMs(attempt: number): number {
  return Math.min(50 * attempt, 1_000);
}
