import { checkOptions, invalidOption } from "../errors.js";
import type { Limiter } from "../limiter/limiter.js";
import type { Store } from "../store/store.js";
import type { Listeners } from "./audience.js";
import type { LimiterEvent } from "./event.js";
import { Observation } from "./observation.js";

/** Hears of everything. */
export type Listener = (event: LimiterEvent) => unknown;

const types: readonly LimiterEvent["type"][] = [
  "decision",
  "firstRefusal",
  "ban",
  "breaker",
  "storeError",
  "storeCall",
];

const observations = new WeakMap<object, Observation>();

/**
 * Tells of what a limiter does, as it happens, and publishes it on `node:diagnostics_channel` where there is one.
 * Neither what a listener throws nor a promise that it leaves changes anything. A limiter that nobody observes
 * does no work for it; without listeners this publishes alone, and costs nothing while nobody subscribes.
 *
 * @returns how to stop
 * @throws HeadgateError `INVALID_OPTION` for listeners that are no functions, or of no known type
 */
export function observe<N extends string, S extends Store>(
  limiter: Limiter<N, S>,
  listeners: Listener | Listeners = {},
): () => void {
  const checked = checkedListeners(listeners);
  let observation = observations.get(limiter);
  if (observation === undefined) {
    observation = new Observation(limiter as unknown as Limiter, () =>
      observations.delete(limiter),
    );
    observations.set(limiter, observation);
  }
  return observation.add(checked);
}

function checkedListeners(listeners: Listener | Listeners): Listeners {
  if (typeof listeners === "function")
    return Object.fromEntries(types.map((type) => [type, listeners]));
  checkOptions("observe", listeners, types);
  for (const [type, listener] of Object.entries(listeners)) {
    if (listener !== undefined && typeof listener !== "function")
      throw invalidOption("observe", `${type} must be a function`, listener);
  }
  return { ...listeners };
}
