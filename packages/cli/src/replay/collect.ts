import type { LogReader } from "../reading/log-reader.js";
import { policyWords } from "../words/policy-words.js";
import { type Attempts, guessingFrom } from "./attempts.js";
import type { ClientNames } from "./client-names.js";
import type { Clients } from "./clients.js";
import { keyWords } from "./identity.js";
import type { Replay } from "./replay.js";
import type {
  AttemptsResult,
  DistributionStep,
  InputResult,
  KeyResult,
  PolicyResult,
  ReplayResult,
  WaitResult,
  WorstClient,
} from "./result.js";
import { notHttp } from "./routes.js";
import type { Trial, Wait } from "./trial.js";

/** Routes and clients that are told of each policy. */
const mostTold = 10;

/** Everything that a replay found out, but how fast it went. */
export function collect(
  replay: Replay,
  names: ClientNames,
): Omit<ReplayResult, "input" | "performance"> {
  const { spans, groups, trials, requestsBySpan } = replay;
  const withoutKey = new Map(
    groups.flatMap((group) => group.trials.map((trial) => [trial, group.withoutKey] as const)),
  );
  return {
    clientsHashed: names.hashed,
    keys: groups.map(({ by, clients }) => keyResult(keyWords(by), clients)),
    spans: {
      startAt: isoTime(spans.startMs),
      widthMs: spans.widthMs,
      requests: spans.countsOf(requestsBySpan),
    },
    policies: trials.map((trial) => ({
      ...policyResult(trial, names),
      withoutKey: withoutKey.get(trial) ?? 0,
      refusedBySpan: spans.countsOf(trial.refusedBySpan),
    })),
  };
}

/** What was read of the logs. */
export function inputResult(readers: readonly LogReader[], replay: Replay): InputResult {
  const sum = (numberOf: (reader: LogReader) => number): number =>
    readers.reduce((total, reader) => total + numberOf(reader), 0);
  return {
    files: readers.map(({ input }) => input.name),
    lines: sum(({ lines }) => lines),
    requests: replay.requests,
    broken: sum(({ broken }) => broken),
    examples: readers.flatMap(({ examples }) => examples).slice(0, 5),
    outOfOrder: sum(({ outOfOrder }) => outOfOrder),
    late: sum(({ late }) => late),
    damaged: readers.flatMap(({ input: { name, damage } }) =>
      damage === undefined ? [] : [{ file: name, why: damage }],
    ),
    firstAt: isoTime(replay.firstMs),
    lastAt: isoTime(replay.lastMs),
  };
}

/** The clients that one key tells apart. */
export function keyResult(by: string, clients: Clients): KeyResult {
  return {
    by,
    clients: clients.size,
    exact: clients.weight === 1,
    distribution: distributionOf(clients),
  };
}

function policyResult(
  trial: Trial,
  names: ClientNames,
): Omit<PolicyResult, "withoutKey" | "refusedBySpan"> {
  const { plan, clients, attempts, longestWait, longestHold } = trial;
  return {
    label: plan.label,
    policy: plan.policy,
    words: policyWords(plan.policy),
    ...(plan.variant === undefined ? {} : { variant: plan.variant }),
    requests: { count: trial.refused, of: trial.requests },
    clients: { count: clients.withAny(trial.refusedByClient), of: clients.size },
    clientsExact: clients.weight === 1,
    banned: trial.banned,
    held: trial.held,
    ...(longestWait === undefined ? {} : { longestWait: waitResult(longestWait) }),
    ...(longestHold === undefined ? {} : { longestHold: waitResult(longestHold) }),
    storeWasFull: trial.storeWasFull,
    routes: routesOf(trial),
    worstClients: worstClients(trial, names),
    ...(attempts === undefined ? {} : { attempts: attemptsResult(attempts, names) }),
  };
}

/** The routes with most refusals; none for a log that knows of no routes. */
function routesOf({ routes }: Trial): PolicyResult["routes"] {
  const top = routes.top(mostTold);
  const isUnknown = top.length === 1 && top[0]?.[0] === notHttp;
  return isUnknown ? [] : top.map(([route, refused]) => ({ route, refused }));
}

function worstClients({ clients, refusedByClient }: Trial, names: ClientNames): WorstClient[] {
  return [...clients.held()]
    .map(([client, row]) => ({
      client,
      refused: refusedByClient.get(row),
      requests: clients.requests.get(row),
    }))
    .filter(({ refused }) => refused > 0)
    .sort((a, b) => b.refused - a.refused)
    .slice(0, mostTold)
    .map((worst) => ({ ...worst, client: names.nameOf(worst.client) }));
}

function attemptsResult(attempts: Attempts, names: ClientNames): AttemptsResult {
  const { longestRun } = attempts;
  return {
    failures: { count: attempts.failuresRefused, of: attempts.failures },
    successes: { count: attempts.successesRefused, of: attempts.successes },
    guessing: {
      from: guessingFrom,
      runs: attempts.guessing.runs,
      failures: { count: attempts.guessing.refused, of: attempts.guessing.failures },
    },
    ...(longestRun === undefined
      ? {}
      : {
          longestRun: {
            client: names.nameOf(longestRun.client),
            failures: longestRun.failures,
            refused: longestRun.refused,
            startAt: isoTime(longestRun.startMs),
          },
        }),
    refusedSuccesses: attempts.refusedSuccesses.map(
      ({ atMs, client, failuresBefore, firstFailureMs }) => ({
        at: isoTime(atMs),
        client: names.nameOf(client),
        failuresBefore,
        ...(firstFailureMs === undefined ? {} : { firstFailureAt: isoTime(firstFailureMs) }),
      }),
    ),
  };
}

/** Clients by their number of requests: 1, 2, 3 to 4, 5 to 8, and so on. */
function distributionOf(clients: Clients): readonly DistributionStep[] {
  const steps: { clients: number; requests: number }[] = [];
  for (const [, row] of clients.held()) {
    const requests = clients.requests.get(row);
    const index = Math.ceil(Math.log2(requests));
    steps[index] ??= { clients: 0, requests: 0 };
    steps[index].clients += clients.weight;
    steps[index].requests += requests * clients.weight;
  }
  return Array.from(steps, (step = { clients: 0, requests: 0 }, index) => ({
    from: index === 0 ? 1 : 2 ** (index - 1) + 1,
    to: 2 ** index,
    ...step,
  }));
}

function waitResult({ ms, atMs }: Wait): WaitResult {
  return { ms, at: isoTime(atMs) };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
