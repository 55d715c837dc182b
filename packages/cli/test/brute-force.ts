// Counts by the bare definitions of the algorithms, from lists of instants, with nothing of Headgate in it.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

/** One request of a log. */
export interface LogLine {
  readonly timeMs: number;
  readonly client: string;
  readonly route: string;
}

/** Whether a client whose requests were admitted at some instants, oldest first, is admitted at another one. */
export type Model = (admittedMs: readonly number[], nowMs: number) => boolean;

/** What a model makes of a log. */
export interface Counted {
  readonly refused: number;
  readonly clientsRefused: number;
  readonly longestWaitMs: number;
  /** Refusals by client and by route, most first. */
  readonly byClient: readonly (readonly [string, number])[];
  readonly byRoute: ReadonlyMap<string, number>;
  readonly refusedAtMs: readonly number[];
}

/** The lines of a packed access log in order of time; equal times stay in the order of the log. */
export function linesOf(file: string): readonly LogLine[] {
  const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
  return gunzipSync(readFileSync(file))
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [, client = "", day, month = "", year, clock, method, path = ""] =
        /^(\S+) .*?\[(\d+)\/(\w+)\/(\d+):([\d:]+) \+0000\] "(\S+) (\S+)/.exec(line) ?? [];
      const monthNumber = String(months.indexOf(month) + 1).padStart(2, "0");
      const timeMs = Date.parse(`${year}-${monthNumber}-${day}T${clock}Z`);
      return { timeMs, client, route: `${method} ${path}` };
    })
    .sort((a, b) => a.timeMs - b.timeMs);
}

/** Decides each line by a model, client by client. */
export function countBy(model: Model, lines: readonly LogLine[]): Counted {
  const admitted = new Map<string, number[]>();
  const byClient = new Map<string, number>();
  const byRoute = new Map<string, number>();
  const refusedAtMs: number[] = [];
  let longestWaitMs = 0;
  for (const { timeMs, client, route } of lines) {
    const instants = admitted.get(client) ?? [];
    admitted.set(client, instants);
    if (model(instants, timeMs)) {
      instants.push(timeMs);
      continue;
    }
    refusedAtMs.push(timeMs);
    byClient.set(client, (byClient.get(client) ?? 0) + 1);
    byRoute.set(route, (byRoute.get(route) ?? 0) + 1);
    longestWaitMs = Math.max(longestWaitMs, waitOf(model, instants, timeMs));
  }
  return {
    refused: refusedAtMs.length,
    clientsRefused: byClient.size,
    longestWaitMs,
    byClient: [...byClient].sort(([, a], [, b]) => b - a),
    byRoute,
    refusedAtMs,
  };
}

/** The least time after which the request would be admitted. */
function waitOf(model: Model, instants: readonly number[], nowMs: number): number {
  let [tooShort, enough] = [0, 1];
  while (!model(instants, nowMs + enough)) enough *= 2;
  while (enough - tooShort > 1) {
    const middle = Math.floor((tooShort + enough) / 2);
    if (model(instants, nowMs + middle)) enough = middle;
    else tooShort = middle;
  }
  return enough;
}

const within = (instants: readonly number[], fromMs: number, untilMs: number): number =>
  instants.filter((instant) => instant >= fromMs && instant < untilMs).length;

export function fixedWindow(limit: number, windowMs: number): Model {
  return (instants, nowMs) => {
    const start = nowMs - (nowMs % windowMs);
    return within(instants, start, start + windowMs) < limit;
  };
}

export function slidingWindow(limit: number, windowMs: number): Model {
  return (instants, nowMs) => within(instants, nowMs - windowMs + 1, nowMs + 1) < limit;
}

export function slidingWindowCounter(limit: number, windowMs: number): Model {
  return (instants, nowMs) => {
    const elapsed = nowMs % windowMs;
    const start = nowMs - elapsed;
    const before = within(instants, start - windowMs, start);
    const now = within(instants, start, start + windowMs);
    return before * (windowMs - elapsed) <= (limit - now - 1) * windowMs;
  };
}

/** No interval between two admissions holds more than the burst and what came back in it. */
export function tokenBucket(limit: number, windowMs: number, burst: number): Model {
  return (instants, nowMs) =>
    instants.every((since, index) => {
      const taken = instants.length - index + 1;
      return taken * windowMs <= burst * windowMs + (nowMs - since) * limit;
    }) && burst >= 1;
}

/** Departures lie a window's share apart; who would stand behind more than `queue` others is refused. */
export function leakyBucket(limit: number, windowMs: number, queue: number): Model {
  return (instants, nowMs) => {
    // In units of 1/limit ms, in which departures are whole numbers.
    let free = 0;
    for (const instant of instants) free = Math.max(free, instant * limit) + windowMs;
    return Math.max(free, nowMs * limit) - nowMs * limit <= queue * windowMs;
  };
}
