import type { Policy } from "@headgate/core";
import type { CurvePoint, Suggestion, SuggestResult } from "../suggest/suggestion.js";
import { durationText, percent, perWords, wholeNumber } from "../words/durations.js";
import { clientsLine, faultLines, inputLine, performanceLine } from "./input-text.js";
import { left, right, tableLines } from "./table.js";

/** The result of a search as a terminal shows it. */
export function suggestText(result: SuggestResult): string {
  const { input, key, question, suggestions } = result;
  const share = `${Number((question.share * 100).toPrecision(12))} %`;
  return [
    inputLine(input),
    clientsLine(key),
    ...faultLines(input),
    "",
    `The smallest limits per ${perWords(question.windowMs)} that would have refused at most ${share} of the ${question.of}:`,
    "",
    ...answers(suggestions),
    ...(suggestions.length === 1
      ? ["", ...curve(suggestions[0] as Suggestion)]
      : ["", "Other limits are in --json and --html."]),
    "",
    "For a policy file:",
    "",
    policyFile(suggestions),
    "",
    performanceLine(result.performance),
    "",
  ].join("\n");
}

const numbers = [
  right("limit"),
  right("refused"),
  right("of requests"),
  right("clients"),
  right("of clients"),
];

function cells({ limit, requests, clients }: CurvePoint): readonly string[] {
  return [
    wholeNumber(limit),
    wholeNumber(requests.count),
    percent(requests.count, requests.of),
    wholeNumber(clients.count),
    percent(clients.count, clients.of),
  ];
}

function answers(suggestions: readonly Suggestion[]): readonly string[] {
  return tableLines(
    [left("algorithm"), ...numbers],
    suggestions.map((suggestion) => [suggestion.policy.algorithm, ...cells(suggestion)]),
  );
}

function curve({ policy, limit, curve: points }: Suggestion): readonly string[] {
  const firstWithout = points.findIndex(({ requests }) => requests.count === 0);
  const shown = firstWithout < 0 ? points : points.slice(0, firstWithout + 1);
  const rows = shown.map((point) => [
    ...cells(point),
    point.limit === limit ? "◀ the smallest" : "",
  ]);
  const table = tableLines([...numbers, left("")], rows);
  return [`${policy.algorithm}, under other limits:`, ...table.map((line) => line.trimEnd())];
}

/** The policies in the form of a policy file, with what differs from the defaults alone. */
function policyFile(suggestions: readonly Suggestion[]): string {
  const policies = suggestions.map(({ policy }) => {
    const { algorithm, limit, windowMs, by } = policy;
    const own = policy.algorithm === "leaky-bucket" ? leakyNumbers(policy) : {};
    const name = suggestions.length === 1 ? "suggested" : algorithm;
    return [name, { algorithm, limit, window: durationText(windowMs), by, ...own }];
  });
  return JSON.stringify({ policies: Object.fromEntries(policies) }, undefined, 2);
}

function leakyNumbers({ queue, maxDelayMs }: Extract<Policy, { algorithm: "leaky-bucket" }>) {
  return { queue, maxDelayMs };
}
