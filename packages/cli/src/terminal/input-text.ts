import { everybody } from "../replay/identity.js";
import type { InputResult, KeyResult, Performance } from "../replay/result.js";
import { percent, wholeNumber } from "../words/durations.js";
import { safeText } from "./safe-text.js";

/** What was read, in one line: `10,000 requests from 2015-05-17 10:05:00Z to 2015-05-20 21:05:59Z (web-access.log.gz)`. */
export function inputLine({ requests, firstAt, lastAt, files }: InputResult): string {
  const [file = ""] = files;
  const named = files.length === 1 ? safeText(file) : `${files.length} files`;
  return `${counted(requests, "request")} from ${readableTime(firstAt)} to ${readableTime(lastAt)} (${named})`;
}

/** How many clients each key tells apart: `1,753 clients by ip`. */
export function clientsLine({ by, clients, exact }: KeyResult): string {
  if (by === everybody) return "everybody counted as one client";
  return `${exact ? "" : "about "}${counted(clients, "client")} by ${by}`;
}

/** What was not as it should be in the logs; empty when all was. */
export function faultLines(input: InputResult): readonly string[] {
  const { lines, broken, examples, damaged, late } = input;
  return [
    ...damaged.map(
      ({ file, why }) => `${safeText(file)} could not be read to its end: ${safeText(why)}`,
    ),
    ...(broken === 0
      ? []
      : [
          `${counted(broken, "line")} of ${wholeNumber(lines)} (${percent(broken, lines)}) could not be read:`,
          ...examples.map(
            ({ file, line, why, text }) => `  ${safeText(file)}:${line}: ${why}: ${safeText(text)}`,
          ),
          ...(broken > examples.length ? ["  …"] : []),
        ]),
    ...(late === 0
      ? []
      : [
          `${counted(late, "request")} came too far out of order and ${late === 1 ? "was" : "were"} decided late (--reorder)`,
        ]),
  ];
}

/** How fast it went, in one line. */
export function performanceLine({
  lines,
  elapsedMs,
  linesPerSecond,
  peakMemoryBytes,
}: Performance): string {
  const seconds = (elapsedMs / 1_000).toFixed(elapsedMs < 10_000 ? 2 : 0);
  const megabytes = Math.ceil(peakMemoryBytes / 2 ** 20);
  return `${counted(lines, "line")} in ${seconds} s: ${wholeNumber(linesPerSecond)} lines per second; peak memory ${wholeNumber(megabytes)} MB`;
}

/** An instant as people read it, in UTC. */
export function readableTime(iso: string): string {
  return iso.replace("T", " ").replace(".000Z", "Z");
}

/** A number and what it counts: `1 line`, `2 lines`. */
export function counted(count: number, noun: string): string {
  return `${wholeNumber(count)} ${noun}${count === 1 ? "" : "s"}`;
}
