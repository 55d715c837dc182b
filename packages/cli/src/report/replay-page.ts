import type { AttemptsResult, PolicyResult, ReplayResult } from "../replay/result.js";
import {
  clientsLine,
  counted,
  faultLines,
  inputLine,
  performanceLine,
  readableTime,
} from "../terminal/input-text.js";
import { left, right } from "../terminal/table.js";
import { percent, perWords, roundDuration, wholeNumber } from "../words/durations.js";
import { replayCharts } from "./charts.js";
import { html, Markup } from "./markup.js";
import { page } from "./page.js";
import { table } from "./tables.js";

/** The result of a replay as a page. */
export function replayPage(result: ReplayResult): string {
  const { input, keys, policies, performance } = result;
  const own = policies.filter(({ variant }) => variant === undefined);
  return page({
    title: "Replay of an access log",
    lead: [inputLine(input), keys.map(clientsLine).join(", ")],
    above: html`${faultNote(faultLines(input))}${summary(own)}`,
    charts: replayCharts(result),
    below: html`${own.map((policy) => details(policy, { hashed: result.clientsHashed, open: own.length === 1 }))}`,
    footer: performanceLine(performance),
  });
}

/** What was wrong with the logs, if anything. */
export function faultNote(lines: readonly string[]): Markup {
  return lines.length === 0
    ? html``
    : html`<aside class="note" aria-label="Faults of the logs">${lines.map((line) => html`<p>${line}</p>`)}</aside>`;
}

function summary(policies: readonly PolicyResult[]): Markup {
  const columns = [
    left("policy"),
    left("algorithm"),
    right("limit"),
    right("requests refused"),
    right("clients refused"),
    right("longest wait"),
  ];
  const rows = policies.map(({ label, policy, requests, clients, clientsExact, longestWait }) => [
    label,
    policy.algorithm,
    `${wholeNumber(policy.limit)} / ${perWords(policy.windowMs)}`,
    `${wholeNumber(requests.count)} (${percent(requests.count, requests.of)})`,
    `${clientsExact ? "" : "about "}${wholeNumber(clients.count)} (${percent(clients.count, clients.of)})`,
    longestWait === undefined ? "–" : roundDuration(longestWait.ms),
  ]);
  return html`<section aria-labelledby="summary-title">
<h2 id="summary-title">What each policy would have done</h2>
${table("Refusals by policy", columns, rows)}
</section>
`;
}

function details(
  result: PolicyResult,
  { hashed, open }: { readonly hashed: boolean; readonly open: boolean },
): Markup {
  const { label, words, routes, worstClients, attempts, longestHold, held, withoutKey } = result;
  const facts = [
    ...(withoutKey > 0 ? [`${counted(withoutKey, "request")} without its key, not decided.`] : []),
    ...(result.policy.tiers === undefined ? [] : ["Its tiers are not told apart."]),
    ...(result.storeWasFull ? ["Its store was full: some clients may have been forgotten."] : []),
    ...(longestHold === undefined
      ? []
      : [`Held ${counted(held, "request")}, the longest for ${roundDuration(longestHold.ms)}.`]),
    ...(result.banned > 0 ? [`${wholeNumber(result.banned)} of the refusals were bans.`] : []),
    ...(result.requests.count === 0 ? ["Refuses nothing."] : []),
  ];
  return html`<section aria-labelledby="policy-${label}">
<h2 id="policy-${label}">Policy ${label}</h2>
<p>${words}.</p>
${facts.map((fact) => html`<p>${fact}</p>\n`)}
${attempts === undefined ? undefined : attemptsPart(attempts)}
<details${open ? new Markup(" open") : undefined}><summary>Where and whom ${label} refuses</summary>
${
  routes.length === 0
    ? undefined
    : table(
        `${label}: routes with most refusals`,
        [left("route"), right("refused")],
        routes.map(({ route, refused }) => [html`<code>${route}</code>`, wholeNumber(refused)]),
      )
}
${
  worstClients.length === 0
    ? undefined
    : table(
        `${label}: clients with most refusals${hashed ? " (hashed)" : ""}`,
        [left("client"), right("refused"), right("of requests")],
        worstClients.map(({ client, refused, requests }) => [
          html`<code>${client}</code>`,
          wholeNumber(refused),
          wholeNumber(requests),
        ]),
      )
}
</details>
</section>
`;
}

function attemptsPart({
  failures,
  successes,
  guessing,
  longestRun,
  refusedSuccesses,
}: AttemptsResult): Markup {
  const share = ({ count, of }: { readonly count: number; readonly of: number }): string =>
    `${wholeNumber(count)} of ${wholeNumber(of)} (${percent(count, of)})`;
  const rows = refusedSuccesses.map(({ at, client, failuresBefore, firstFailureAt }) => [
    readableTime(at),
    html`<code>${client}</code>`,
    wholeNumber(failuresBefore),
    firstFailureAt === undefined ? "–" : readableTime(firstFailureAt),
  ]);
  return html`<p>Failures refused: ${share(failures)}. Successes refused: ${share(successes)}.</p>
<p>${counted(guessing.runs, "run")} of ${guessing.from} or more failures by one client; refused of these failures: ${share(guessing.failures)}.</p>
${
  longestRun === undefined
    ? undefined
    : html`<p>The longest run of failures: ${wholeNumber(longestRun.failures)} by <code>${longestRun.client}</code> from ${readableTime(longestRun.startAt)}, ${wholeNumber(longestRun.refused)} of them refused.</p>`
}
${rows.length === 0 ? undefined : table("Refused successes", [left("at"), left("client"), right("failures before"), right("since")], rows)}`;
}
