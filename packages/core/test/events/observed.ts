import type { LimiterEvent } from "../../src/events/index.js";
import { observe } from "../../src/events/index.js";
import { createLimiter, type Limiter } from "../../src/limiter/limiter.js";
import type { PolicyDefinition } from "../../src/policy/policy.js";
import type { AsyncStore } from "../../src/store/store.js";
import { ManualClock } from "../../src/testing/manual-clock.js";

export const nowMs = 1_700_000_000_000;

/** An event of one type. */
type EventOf<Type extends LimiterEvent["type"]> = Extract<LimiterEvent, { readonly type: Type }>;

/** A limiter on a clock that stands still, and all that is heard of it. */
export interface Observed {
  readonly clock: ManualClock;
  readonly limiter: Limiter;
  readonly events: readonly LimiterEvent[];
  of<Type extends LimiterEvent["type"]>(type: Type): readonly EventOf<Type>[];
  stop(): void;
}

export function observed(
  policies: Readonly<Record<string, PolicyDefinition>>,
  { store, clock = new ManualClock(nowMs) }: { store?: AsyncStore; clock?: ManualClock } = {},
): Observed {
  const limiter = createLimiter({
    policies,
    clock,
    onStoreError: () => {},
    ...(store && { store }),
  }) as unknown as Limiter;
  const events: LimiterEvent[] = [];
  const stop = observe(limiter, (event) => events.push(event));
  return {
    clock,
    limiter,
    events,
    of: (type) => events.filter((event) => event.type === type) as never,
    stop,
  };
}
