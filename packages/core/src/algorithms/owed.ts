import type { Millis } from "../clock.js";
import type { Columns } from "./algorithm.js";

/**
 * What a bucket is owed, and since when. One request costs `windowMs` units and `limit` units come back
 * each millisecond, so all of it stays an integer, and a changed limit needs no conversion of live state.
 */
export interface Owed {
  units: number;
  atMs: Millis;
}

export const owedColumns: Columns<Owed> = {
  width: 2,
  save(state, cells, at) {
    cells[at] = state.units;
    cells[at + 1] = state.atMs;
  },
  load(state, cells, at) {
    state.units = cells[at] as number;
    state.atMs = cells[at + 1] as number;
  },
};

/** The instant at which a call is decided: never before the state's own. */
export function instantOf(state: Owed | undefined, now: Millis): Millis {
  return state === undefined || state.units === 0 ? now : Math.max(now, state.atMs);
}

/** Units still owed at an instant. Long idle times cannot overflow: they are cut to what is owed first. */
export function owedAt(state: Owed | undefined, limit: number, instant: Millis): number {
  if (state === undefined || state.units === 0) return 0;
  const elapsedMs = instant - state.atMs;
  return elapsedMs >= Math.ceil(state.units / limit) ? 0 : state.units - elapsedMs * limit;
}

/** When nothing is owed any more; 0 when nothing is. */
export function repaidAt(state: Owed, limit: number): Millis {
  return state.units === 0 ? 0 : state.atMs + Math.ceil(state.units / limit);
}
