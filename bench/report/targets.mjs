import { ratioOf } from "../harness/statistics.mjs";
import { figure, ratio, rowOf } from "./figures.mjs";

const express = "express-rate-limit";
const flexible = "rate-limiter-flexible";

/** What was meant to be reached. Each reads its numbers out of the results. */
const targets = [
  against("middleware", { case: "admitted", row: "headgate" }, express, { atMost: 0.5 }),
  against("middleware", { case: "admitted", row: "headgate" }, `${flexible}, by hand`, {
    atMost: 1,
  }),
  ...[10_000, 1_000_000].flatMap((x) => [
    against("memory", { x, row: "headgate, store.apply" }, `${express}, store.increment`, {
      atLeast: 1.5,
    }),
    against("memory", { x, row: "headgate, store.apply" }, `${flexible}, consume`, { atLeast: 3 }),
  ]),
  ...["fixed window", "token bucket"].flatMap((policy) => [
    against("idle-keys", { row: `headgate, ${policy}` }, express, { atMost: 0.7 }),
    against("idle-keys", { row: `headgate, ${policy}` }, flexible, { atMost: 0.35 }),
  ]),
  against("redis", { x: 64, row: "headgate" }, flexible, { atLeast: 4 }),
  against("redis", { x: 64, row: "headgate" }, "floor: INCR, pipelined", { atLeast: 1 }),
  value("round-trips", { case: "4 policies, admitted", row: "headgate" }, 1),
  value("round-trips", { case: "refused again", row: "headgate" }, 0),
  value("redis-keys", { row: "headgate, fixed-window" }, 112),
  ...["token-bucket", "leaky-bucket", "sliding-window-counter"].map((algorithm) =>
    value("redis-keys", { row: `headgate, ${algorithm}` }, 128),
  ),
  value("redis-keys", { row: "headgate, sliding-window, for each event" }, 11),
  ...["Redis stopped (SIGSTOP)", "Redis paused (CLIENT PAUSE ALL)"].flatMap((name) => [
    value("outages", { case: name, row: "64 requests at once, the slowest" }, 250),
    value("outages", { case: name, row: "with the breaker open, the slowest" }, 5),
  ]),
  growth("sliding window, admitted"),
  growth("sliding window, refused"),
  growth("sliding window, first after an idle window"),
  value("cold-import", { case: "a limiter in memory", row: "headgate: core" }, 8),
  value("bundle-size", { case: "a limiter in memory", row: "headgate: core" }, 10 * 1024),
];

/** Every target whose measurement is among the results, with what was reached and whether it holds. */
export function judged(results) {
  return targets.flatMap(({ measurement, ...target }) => {
    const found = results.measurements.find(({ name }) => name === measurement);
    const made = found === undefined ? undefined : target.judge(results, found);
    return made === undefined ? [] : [{ title: found.title, ...made }];
  });
}

/** How our row's ratio to another's is bounded. Throughput is to be more, cost less. */
function against(measurement, ours, theirs, { atMost, atLeast }) {
  const judge = (results, { better, cases }) => {
    const at = ours.case === undefined && ours.x === undefined ? { case: cases[0].name } : ours;
    const mine = rowOf(results, measurement, { ...at, row: ours.row });
    const other = rowOf(results, measurement, { ...at, row: theirs });
    if (mine === undefined || other === undefined || other.failed !== undefined) return undefined;
    const reached = ratioOf(mine.values, other.values);
    const bound = better === "lower" ? `≤ ${atMost} ×` : `≥ ${atLeast} ×`;
    const where =
      cases.length === 1
        ? ""
        : `${cases.find((one) => one.name === at.case || one.x === at.x)?.name}: `;
    return {
      what: `${where}${ours.row} against ${theirs}`,
      target: bound,
      reached: ratio(reached),
      holds: better === "lower" ? reached.median <= atMost : reached.median >= atLeast,
    };
  };
  return { measurement, judge };
}

/** What one value is at most. */
function value(measurement, ours, atMost) {
  const judge = (results, { unit, cases }) => {
    const at = ours.case === undefined ? { case: cases[0].name, row: ours.row } : ours;
    const row = rowOf(results, measurement, at);
    if (row === undefined) return undefined;
    const where = cases.length === 1 ? "" : `${at.case}: `;
    return {
      what: `${where}${ours.row}`,
      target: `≤ ${figure(atMost, unit)}`,
      reached: figure(row.median, unit),
      holds: row.median <= atMost,
    };
  };
  return { measurement, judge };
}

/** A call at the largest limit costs at most twice what it does at the smallest. */
function growth(row) {
  const judge = (results, { cases }) => {
    const [first, last] = [cases[0], cases.at(-1)];
    const small = rowOf(results, "limit", { x: first.x, row });
    const large = rowOf(results, "limit", { x: last.x, row });
    const reached = ratioOf(large.values, small.values);
    return {
      what: `${row}: ${last.name} against ${first.name}`,
      target: "≤ 2 ×",
      reached: ratio(reached),
      holds: reached.median <= 2,
    };
  };
  return { measurement: "limit", judge };
}
