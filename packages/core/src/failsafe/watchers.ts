import type { HeadgateError } from "../errors.js";
import { tell } from "../listener.js";
import type { SafeStoreEvent } from "../store/store.js";

type Watcher = (event: SafeStoreEvent) => unknown;

/** Those who watch a safe store. While there are none, nothing is measured. */
export class Watchers {
  readonly #entries = new Set<{ readonly watcher: Watcher }>();

  /** @returns how to stop */
  add(watcher: Watcher): () => void {
    const entry = { watcher };
    this.#entries.add(entry);
    return () => {
      this.#entries.delete(entry);
    };
  }

  tell(event: SafeStoreEvent): void {
    for (const { watcher } of this.#entries) tell("watch", () => watcher(event));
  }

  /** Starts to time a call. What it returns tells how the call ended; undefined while nobody watches. */
  time(): ((error: HeadgateError | undefined) => void) | undefined {
    if (this.#entries.size === 0) return undefined;
    const startedMs = performance.now();
    return (error) => {
      this.tell({ type: "call", latencyMs: performance.now() - startedMs, error });
    };
  }
}
