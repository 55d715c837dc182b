import type { Clock } from "../clock.js";
import type { Store } from "../store/store.js";
import { SteppingClock } from "./manual-clock.js";

/**
 * Opens a store that holds nothing yet and that takes its time from `clock` alone: a memory store, or one
 * over a server under a prefix of its own. The suites close what they open.
 */
export type OpenStore = (clock: Clock) => Store | Promise<Store>;

/** One promise of the store contract, as a test: throws when the store breaks it. */
export interface StoreCase {
  /** A sentence for the test's name. */
  readonly name: string;
  run(openStore: OpenStore): Promise<void>;
}

/** Runs a body on a fresh store with a clock that it may set, and closes the store afterwards. */
export async function onFreshStore(
  openStore: OpenStore,
  body: (store: Store, clock: SteppingClock) => Promise<void>,
): Promise<void> {
  const clock = new SteppingClock(1_700_000_000_000);
  const store = await openStore(clock);
  try {
    await body(store, clock);
  } finally {
    if (store.kind === "async") await store.close();
  }
}
