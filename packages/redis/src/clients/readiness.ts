/** What the clients have of Node's event emitter. */
export interface Watchable {
  on(event: string, listener: (value: unknown) => void): unknown;
  removeListener(event: string, listener: (value: unknown) => void): unknown;
}

/** Waits for `ready`, or rejects at the first of `endings`. Leaves no listener behind. */
export function readyOrClosed(client: Watchable, endings: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      client.removeListener("ready", succeed);
      for (const ending of endings) client.removeListener(ending, fail);
    };
    const succeed = (): void => {
      stop();
      resolve();
    };
    const fail = (cause: unknown): void => {
      stop();
      reject(new Error("the connection could not be made", { cause }));
    };
    client.on("ready", succeed);
    for (const ending of endings) client.on(ending, fail);
  });
}
