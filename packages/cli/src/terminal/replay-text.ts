import type {
  AttemptsResult,
  PolicyResult,
  RefusedSuccessResult,
  ReplayResult,
} from "../replay/result.js";
import {
  durationWords,
  percent,
  perWords,
  roundDuration,
  wholeNumber,
} from "../words/durations.js";
import {
  clientsLine,
  counted,
  faultLines,
  inputLine,
  performanceLine,
  readableTime,
} from "./input-text.js";
import { safeText } from "./safe-text.js";
import { sparkline } from "./sparkline.js";
import { left, right, tableLines } from "./table.js";

const sparklineWidth = 60;
/** Routes, clients and refused successes that the terminal shows; `--json` has more. */
const mostShown = 5;

/** The result of a replay as a terminal shows it. */
export function replayText(result: ReplayResult): string {
  const { input, keys, policies } = result;
  const files = policies.filter(({ variant }) => variant === undefined);
  return [
    inputLine(input),
    ...keys.map(clientsLine),
    ...faultLines(input),
    "",
    ...summary(policies),
    ...files.flatMap((policy) => ["", ...details(policy, result)]),
    "",
    performanceLine(result.performance),
    "",
  ].join("\n");
}

function summary(policies: readonly PolicyResult[]): readonly string[] {
  const columns = [
    left("policy"),
    left("algorithm"),
    right("limit"),
    right("refused"),
    right("of requests"),
    right("clients"),
    right("of clients"),
    right("longest wait"),
  ];
  const rows = policies.map(({ label, policy, requests, clients, clientsExact, longestWait }) => [
    label,
    policy.algorithm,
    `${wholeNumber(policy.limit)} / ${perWords(policy.windowMs)}`,
    wholeNumber(requests.count),
    percent(requests.count, requests.of),
    `${clientsExact ? "" : "≈ "}${wholeNumber(clients.count)}`,
    percent(clients.count, clients.of),
    longestWait === undefined ? "–" : roundDuration(longestWait.ms),
  ]);
  return tableLines(columns, rows);
}

function details(result: PolicyResult, { spans, clientsHashed }: ReplayResult): readonly string[] {
  const { label, policy, words, withoutKey, held, longestHold, banned, attempts } = result;
  return [
    `${label}: ${words}`,
    ...(withoutKey === 0
      ? []
      : [`  ${counted(withoutKey, "request")} without its key, not decided`]),
    ...(policy.tiers === undefined
      ? []
      : ["  its tiers are not told apart: everybody is decided by its own limit"]),
    ...(result.storeWasFull
      ? ["  its store was full: some clients may have been forgotten (--max-keys)"]
      : []),
    ...(longestHold === undefined
      ? []
      : [
          `  held ${counted(held, "request")}, the longest for ${roundDuration(longestHold.ms)} (${readableTime(longestHold.at)})`,
        ]),
    ...(banned === 0 ? [] : [`  ${wholeNumber(banned)} of the refusals were bans`]),
    ...(attempts === undefined ? [] : attemptLines(attempts)),
    ...(result.requests.count === 0
      ? ["  refuses nothing"]
      : [
          ...whenLines(result, spans),
          ...routeLines(result),
          ...clientLines(result, clientsHashed),
        ]),
  ];
}

function whenLines(
  { refusedBySpan }: PolicyResult,
  { startAt, widthMs }: ReplayResult["spans"],
): readonly string[] {
  const most = Math.max(...refusedBySpan);
  const at = new Date(Date.parse(startAt) + refusedBySpan.indexOf(most) * widthMs).toISOString();
  return [
    `  when    ${sparkline(refusedBySpan, sparklineWidth)}`.trimEnd(),
    `          most in ${durationWords(widthMs)}: ${wholeNumber(most)}, from ${readableTime(at)}`,
  ];
}

function routeLines({ routes, requests }: PolicyResult): readonly string[] {
  return routes
    .slice(0, mostShown)
    .map(
      ({ route, refused }, index) =>
        `  ${index === 0 ? "routes " : "       "} ${wholeNumber(refused).padStart(wholeNumber(requests.count).length)}  ${safeText(route)}`,
    );
}

function clientLines({ worstClients }: PolicyResult, hashed: boolean): readonly string[] {
  const lines = worstClients
    .slice(0, mostShown)
    .map(
      ({ client, refused, requests }, index) =>
        `  ${index === 0 ? "clients" : "       "} ${safeText(client)}: ${wholeNumber(refused)} of ${counted(requests, "request")} refused`,
    );
  return hashed ? [...lines, "          (hashed; --show-clients tells who they are)"] : lines;
}

function attemptLines(attempts: AttemptsResult): readonly string[] {
  const { failures, successes, guessing, longestRun, refusedSuccesses } = attempts;
  const share = ({ count, of }: { readonly count: number; readonly of: number }): string =>
    `${wholeNumber(count)} of ${wholeNumber(of)} refused (${percent(count, of)})`;
  return [
    `  failures ${share(failures)}; successes ${share(successes)}`,
    ...(guessing.runs === 0
      ? []
      : [
          `  ${counted(guessing.runs, "run")} of ${guessing.from} or more failures by one client: ${share(guessing.failures)}`,
        ]),
    ...(longestRun === undefined
      ? []
      : [
          `  longest run of failures: ${wholeNumber(longestRun.failures)} by ${safeText(longestRun.client)} from ${readableTime(longestRun.startAt)}, ${wholeNumber(longestRun.refused)} refused`,
        ]),
    ...refusedSuccesses.slice(0, mostShown).map((success) => `  ${successLine(success)}`),
    ...(refusedSuccesses.length > mostShown
      ? [
          `  … and ${wholeNumber(refusedSuccesses.length - mostShown)} more refused successes (--json)`,
        ]
      : []),
  ];
}

function successLine({ at, client, failuresBefore, firstFailureAt }: RefusedSuccessResult): string {
  const since =
    firstFailureAt === undefined
      ? ""
      : ` within ${roundDuration(Date.parse(at) - Date.parse(firstFailureAt))}`;
  return `refused success at ${readableTime(at)} by ${safeText(client)}, after ${counted(failuresBefore, "failure")}${since}`;
}
