import { figure, rowOf } from "./figures.mjs";

const million = 1_000_000;
/** How much of a core is to be used: the rest is for what comes in bursts. */
const share = 0.7;

/** What the results mean for somebody who has machines to choose: lines of a Markdown table. */
export function sizingLines(results) {
  const lines = [];
  const row = (name, at) => rowOf(results, name, at);
  const cpu = row("redis-cpu", { case: "256 in flight", row: "headgate" });
  const process = row("processes", { x: 1, row: "headgate" });
  const idle = results.measurements.find(({ name }) => name === "idle-keys")?.cases[0].rows;
  if (cpu !== undefined) {
    const perCore = million / cpu.median;
    const cores = Math.ceil(million / (share * perCore));
    lines.push(
      ["decisions a second that one Redis core can make", figure(perCore, "decisions/s")],
      [
        "decisions a second to plan for on one core (70 %), above which to shard",
        figure(share * perCore, "decisions/s"),
      ],
      ["Redis cores for 1,000,000 decisions a second, planned so", String(cores)],
    );
  }
  if (process !== undefined) {
    const count = Math.ceil(million / (share * process.median));
    lines.push(
      [
        "decisions a second that one Node.js process asks of Redis, 64 in flight",
        figure(process.median, "decisions/s"),
      ],
      ["Node.js processes for 1,000,000 decisions a second, planned so", String(count)],
    );
  }
  for (const { name, ours, median } of idle ?? [])
    if (ours)
      lines.push([`memory for 1,000,000 idle clients in process (${name})`, megabytes(median)]);
  for (const algorithm of ["fixed-window", "token-bucket"]) {
    const bytes = row("redis-keys", { case: "one key", row: `headgate, ${algorithm}` });
    if (bytes !== undefined)
      lines.push([`memory for 1,000,000 clients in Redis (${algorithm})`, megabytes(bytes.median)]);
  }
  return [
    "| for sizing | |",
    "|---|---|",
    ...lines.map(([what, number]) => `| ${what} | ${number} |`),
  ];
}

function megabytes(bytesEach) {
  return `${Math.round((bytesEach * million) / 1e6).toLocaleString("en")} MB`;
}
