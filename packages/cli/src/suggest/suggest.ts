import type { AlgorithmName, KeyBy, Millis } from "@headgate/core";
import type { LogInput } from "../reading/input.js";
import type { LogReader, ReadingOptions } from "../reading/log-reader.js";
import { inputResult, keyResult } from "../replay/collect.js";
import { endingByStatus } from "../replay/endings.js";
import { keyWords } from "../replay/identity.js";
import { type Plan, plainPolicy } from "../replay/plan.js";
import { readLogs } from "../replay/read-logs.js";
import { Replay } from "../replay/replay.js";
import type { InputResult, KeyResult } from "../replay/result.js";
import type { Trial } from "../replay/trial.js";
import type { Progress } from "../terminal/progress.js";
import { LimitSearch } from "./limit-search.js";
import type { CurvePoint, Question, Suggestion } from "./suggestion.js";

/** What to read and how, and where progress is shown. */
export interface SuggestOptions extends ReadingOptions {
  readonly inputs: readonly LogInput[];
  readonly fields: ReadonlyMap<string, string>;
  readonly maxKeys: number;
  readonly progressOf: (pass: number) => Progress;
}

/** What was found, and the lines that were read for it in all passes together. */
interface Found {
  readonly input: InputResult;
  readonly key: KeyResult;
  readonly suggestions: readonly Suggestion[];
  readonly linesRead: number;
}

/** One algorithm's search and the limits it has tried. */
interface Search {
  readonly algorithm: AlgorithmName;
  readonly limits: LimitSearch;
  readonly points: CurvePoint[];
}

/** Reads the logs as often as it takes to find the smallest limit of each algorithm that a question asks for. */
export async function suggestLimits(question: Question, options: SuggestOptions): Promise<Found> {
  const searches = question.algorithms.map(
    (algorithm): Search => ({ algorithm, limits: new LimitSearch(), points: [] }),
  );
  let linesRead = 0;
  let latest: { readonly replay: Replay; readonly readers: readonly LogReader[] } | undefined;
  for (let pass = 1; ; pass += 1) {
    const tries = searches.flatMap((search) =>
      search.limits
        .next(latest?.replay.requests)
        .map((limit) => ({ search, limit, plan: planFor(search.algorithm, limit, question) })),
    );
    if (tries.length === 0) break;
    const replay = new Replay(
      tries.map(({ plan }) => plan),
      { ...options, endingOf: endingByStatus, tellEndings: false },
    );
    const readers = await readLogs(options.inputs, replay, {
      ...options,
      progress: options.progressOf(pass),
    });
    tries.forEach(({ search, limit }, index) => {
      const point = pointOf(limit, replay.trials[index] as Trial);
      search.points.push(point);
      search.limits.note(limit, isEnough(point, question));
    });
    linesRead += readers.reduce((lines, reader) => lines + reader.lines, 0);
    latest = { replay, readers };
  }
  const { replay, readers } = latest as NonNullable<typeof latest>;
  const [group] = replay.groups;
  return {
    input: inputResult(readers, replay),
    key: keyResult(keyWords(question.by), (group as NonNullable<typeof group>).clients),
    suggestions: searches.map((search) => suggestionOf(search, question)),
    linesRead,
  };
}

function planFor(
  algorithm: AlgorithmName,
  limit: number,
  { windowMs, by }: { readonly windowMs: Millis; readonly by: KeyBy },
): Plan {
  const policy = plainPolicy("suggested", { algorithm, limit, windowMs, by });
  return { label: `${algorithm} at ${limit}`, policy };
}

function pointOf(limit: number, trial: Trial): CurvePoint {
  const { clients, refusedByClient, refused, requests } = trial;
  return {
    limit,
    requests: { count: refused, of: requests },
    clients: { count: clients.withAny(refusedByClient), of: clients.size },
  };
}

function isEnough(point: CurvePoint, { of, share }: Question): boolean {
  return point[of].count <= share * point[of].of;
}

function suggestionOf({ algorithm, limits, points }: Search, question: Question): Suggestion {
  const limit = limits.answer as number;
  const curve = points.toSorted((a, b) => a.limit - b.limit);
  return {
    ...(curve.find((point) => point.limit === limit) as CurvePoint),
    policy: planFor(algorithm, limit, question).policy,
    curve,
  };
}
