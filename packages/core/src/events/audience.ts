import { tell } from "../listener.js";
import { openChannels } from "./channels.js";
import type { LimiterEvent } from "./event.js";

/** Functions by event type, for what somebody wants to hear of. */
export type Listeners = {
  readonly [Type in LimiterEvent["type"]]?: (
    event: Extract<LimiterEvent, { readonly type: Type }>,
  ) => unknown;
};

/** Those who hear of a limiter's events: listeners, and the subscribers of the process's channels. */
export class Audience {
  readonly #channels = openChannels();
  readonly #entries = new Set<{ readonly listeners: Listeners }>();

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** @returns how to stop; false when it had been stopped before */
  add(listeners: Listeners): () => boolean {
    const entry = { listeners };
    this.#entries.add(entry);
    return () => this.#entries.delete(entry);
  }

  /** Whether anybody wants events of a type. */
  hears(type: LimiterEvent["type"]): boolean {
    if (this.#channels[type]?.hasSubscribers === true) return true;
    for (const { listeners } of this.#entries) if (listeners[type] !== undefined) return true;
    return false;
  }

  tell(event: LimiterEvent): void {
    const channel = this.#channels[event.type];
    if (channel?.hasSubscribers === true) channel.publish(event);
    for (const { listeners } of this.#entries) {
      const listener = listeners[event.type] as ((event: LimiterEvent) => unknown) | undefined;
      if (listener !== undefined) tell("observe", () => listener(event));
    }
  }
}
