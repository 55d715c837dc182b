import type { LimiterEvent } from "./event.js";

/** What this module needs of a channel of `node:diagnostics_channel`. */
interface Channel {
  readonly hasSubscribers: boolean;
  publish(message: LimiterEvent): void;
}

interface ProcessLike {
  getBuiltinModule?(name: string): { channel(name: string): Channel } | undefined;
}

/** The channels of the process by event type; none where there is no `node:diagnostics_channel`. */
export type Channels = { readonly [Type in LimiterEvent["type"]]?: Channel };

let channels: Channels | undefined;

/** Opens `headgate:decision` and the other channels, once: Node keeps a channel only as long as somebody holds it. */
export function openChannels(): Channels {
  if (channels !== undefined) return channels;
  const { process } = globalThis as { process?: ProcessLike };
  const diagnostics = process?.getBuiltinModule?.("node:diagnostics_channel");
  channels =
    diagnostics === undefined
      ? {}
      : {
          decision: diagnostics.channel("headgate:decision"),
          firstRefusal: diagnostics.channel("headgate:firstRefusal"),
          ban: diagnostics.channel("headgate:ban"),
          breaker: diagnostics.channel("headgate:breaker"),
          storeError: diagnostics.channel("headgate:storeError"),
          storeCall: diagnostics.channel("headgate:storeCall"),
        };
  return channels;
}
