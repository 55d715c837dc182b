import type { SuggestResult } from "../suggest/suggestion.js";
import { clientsLine, faultLines, inputLine, performanceLine } from "../terminal/input-text.js";
import { left, right } from "../terminal/table.js";
import { percent, perWords, wholeNumber } from "../words/durations.js";
import { policyWords } from "../words/policy-words.js";
import { suggestCharts } from "./charts.js";
import { html } from "./markup.js";
import { page } from "./page.js";
import { faultNote } from "./replay-page.js";
import { table } from "./tables.js";

/** The result of a search as a page. */
export function suggestPage(result: SuggestResult): string {
  const { input, key, question, suggestions } = result;
  const share = `${Number((question.share * 100).toPrecision(12))} %`;
  const caption = `The smallest limits per ${perWords(question.windowMs)} that would have refused at most ${share} of the ${question.of}`;
  const rows = suggestions.map(({ policy, limit, requests, clients }) => [
    policy.algorithm,
    wholeNumber(limit),
    `${wholeNumber(requests.count)} (${percent(requests.count, requests.of)})`,
    `${wholeNumber(clients.count)} (${percent(clients.count, clients.of)})`,
    policyWords(policy),
  ]);
  const columns = [
    left("algorithm"),
    right("limit"),
    right("requests refused"),
    right("clients refused"),
    left("in words"),
  ];
  return page({
    title: "Limits from an access log",
    lead: [inputLine(input), clientsLine(key)],
    above: html`${faultNote(faultLines(input))}<section aria-labelledby="answer-title">
<h2 id="answer-title">The smallest limits</h2>
${table(caption, columns, rows)}
</section>
`,
    charts: suggestCharts(result),
    below: html``,
    footer: performanceLine(result.performance),
  });
}
