import type { Limiter, Store } from "@headgate/core";
import type { Attributes, ObservableResult } from "@opentelemetry/api";
import { attribute } from "./attributes.js";
import type { Instruments } from "./instruments.js";

const breakerStates = ["closed", "half-open", "open"] as const;

/**
 * Reads what a limiter has to tell whenever somebody collects metrics: of an asynchronous store the breaker, of
 * one in this process its keys. How many keys Redis holds is Redis's to tell, and would cost it a scan here.
 *
 * @returns how to stop
 */
export function observeGauges<N extends string, S extends Store>(
  limiter: Limiter<N, S>,
  { breaker, keys }: Instruments,
  common: Attributes,
): () => void {
  const observeBreaker = (result: ObservableResult): void => {
    for (const state of breakerStates) {
      const isIn = limiter.safe?.breaker === state;
      result.observe(isIn ? 1 : 0, { ...common, [attribute.breaker]: state });
    }
  };
  const observeKeys = (result: ObservableResult): void => {
    const size = sizeOf(limiter.store);
    if (size !== undefined) result.observe(size, common);
  };
  if (limiter.safe !== undefined) breaker.addCallback(observeBreaker);
  keys.addCallback(observeKeys);
  return () => {
    breaker.removeCallback(observeBreaker);
    keys.removeCallback(observeKeys);
  };
}

function sizeOf(store: Store & { readonly size?: unknown }): number | undefined {
  return typeof store.size === "number" ? store.size : undefined;
}
