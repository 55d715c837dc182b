/** One run of the store's script. Keys and arguments are in the script's order. */
export interface ScriptCall {
  /** Whether `script` is the SHA-1 of a script that the server may know, or the script itself. */
  readonly command: "EVALSHA" | "EVAL";
  readonly script: string;
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/** What the store needs of a Redis client. Write one to use a client that has none here. */
export interface Executor {
  /**
   * In a cluster: the slot of a key, with whatever the client itself puts before it. Undefined where a
   * script may name any keys together.
   */
  readonly slotOf: ((key: string) => number) | undefined;
  /**
   * Undefined when a command can be sent now, a promise while a connection is being made.
   *
   * @throws Error at once when there is no connection: the command is not to wait for one
   */
  ready(): Promise<void> | undefined;
  /**
   * Sends the call once and gives the server's reply as it is: integers as numbers, text as strings.
   * It must never send again what may have run.
   */
  run(call: ScriptCall): Promise<unknown>;
  /**
   * Tells, page by page, the keys that match a glob pattern, on the server or on every primary of a cluster. For
   * lists of bans; keys are named as in `run`, and may come twice. Absent where there shall be no such lists.
   */
  readonly scan?: (pattern: string) => AsyncIterable<readonly string[]>;
  /** Closes what the executor itself opened. */
  close(): Promise<void>;
}

/** Whether a value has the shape of an executor. */
export function isExecutor(value: unknown): value is Executor {
  const { run, ready, close } = (value ?? {}) as Partial<Executor>;
  return typeof run === "function" && typeof ready === "function" && typeof close === "function";
}
