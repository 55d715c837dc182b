import fc from "fast-check";
import type { Store } from "../../store/store.js";
import { SteppingClock } from "../manual-clock.js";
import type { OpenStore } from "../store-under-test.js";
import type { History } from "./history.js";
import { runLater, runNow, type Steps } from "./steps.js";
import { Trial } from "./trial.js";

/** How thoroughly a law is tried. */
export interface LawOptions {
  /**
   * Random histories.
   * @default 1000
   */
  readonly histories?: number;
  /**
   * Where randomness starts, to repeat a run.
   * @default another one each time; a failure prints it
   */
  readonly seed?: number;
  /**
   * Whether a failure is made as small as possible before it is reported.
   * @default true
   */
  readonly shrink?: boolean;
}

/** A law as a test: throws, with the seed and the shortest history found, when a store breaks it. */
export interface Law {
  /** The law's name. */
  readonly name: string;
  run(openStore: OpenStore, options?: LawOptions): Promise<void>;
}

/** What a law says about one random history: throws when it does not hold. */
export type LawBody<H extends History = History> = (trial: Trial, history: H) => Steps<void>;

/** Makes a law of what it says, for all histories of a kind. */
export function lawOf<H extends History>(
  name: string,
  histories: fc.Arbitrary<H>,
  body: LawBody<H>,
): Law {
  return {
    name,
    async run(openStore, options = {}) {
      const clock = new SteppingClock();
      const opened = openStore(clock);
      // A store that opens at once costs nothing, so each history gets its own.
      if (!(opened instanceof Promise) && opened.kind === "sync") {
        fc.assert(fc.property(histories, inFreshStores(openStore, body)), settings(options));
        return;
      }
      const store = await opened;
      try {
        const property = fc.asyncProperty(histories, inOneStore(store, clock, body));
        await fc.assert(property, settings(options));
      } finally {
        if (store.kind === "async") await store.close();
      }
    },
  };
}

function settings({ histories = 1_000, seed, shrink = true }: LawOptions): {
  numRuns: number;
  endOnFailure: boolean;
  seed?: number;
} {
  return {
    numRuns: histories,
    endOnFailure: !shrink,
    ...(seed === undefined ? {} : { seed }),
  };
}

function inFreshStores<H extends History>(
  openStore: OpenStore,
  body: LawBody<H>,
): (history: H) => void {
  return (history) => {
    const clock = new SteppingClock(history.startMs);
    const store = openStore(clock) as Store;
    const trial = new Trial(store, { clock, policy: history.policy, prefix: "" });
    try {
      runNow(body(trial, history));
    } catch (error) {
      throw told(error, trial);
    }
  };
}

function inOneStore<H extends History>(
  store: Store,
  clock: SteppingClock,
  body: LawBody<H>,
): (history: H) => Promise<void> {
  let trials = 0;
  return async (history) => {
    trials += 1;
    clock.set(history.startMs);
    const prefix = `t${trials}-`;
    const trial = new Trial(store, { clock, policy: history.policy, prefix });
    try {
      await runLater(body(trial, history));
    } catch (error) {
      throw told(error, trial);
    }
  };
}

function told(error: unknown, trial: Trial): Error {
  const message = error instanceof Error ? error.message : String(error);
  return new Error(`${message}\n${trial.story()}`, { cause: error });
}
