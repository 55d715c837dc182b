import { rowsOf } from "../harness/contest.mjs";
import { processOf } from "../harness/process-of.mjs";

/** Cases that refill a window before each sample have fewer of them. */
const dear = 200;

const rows = [
  { name: "sliding window, admitted", preparation: "admitted" },
  { name: "sliding window, refused", preparation: "refused" },
  {
    name: "sliding window, first after an idle window",
    preparation: "first after an idle window",
    share: 1 / dear,
  },
  {
    name: "sliding window, first when all but one have expired",
    preparation: "first when all but one have expired",
    share: 1 / dear,
    note: "finds the one in a ring that has gone cold",
  },
  { name: "token bucket, admitted", preparation: "admitted", algorithm: "token-bucket" },
  { name: "sliding window, memory for each unit", unit: "bytes" },
];

export const limit = {
  name: "limit",
  title: "Cost against the limit",
  about:
    "One call on a key whose window is full, in a store that serves another client as well, the clock included that measures it (about 50 ns). The exact log is the one that could grow.",
  unit: "ns",
  better: "lower",
  growth: "limit",
  async run({ limits, samples, limitRounds }) {
    const most = Math.max(...limits);
    const cases = limits.map((x) => ({
      x,
      name: `limit ${x.toLocaleString("en")}`,
      measured: rows.map(({ name, note, unit }) => ({ name, note, unit, ours: true, values: [] })),
    }));
    // Each figure in several processes, for one may have its code or its tables laid out badly.
    for (let round = 0; round < limitRounds; round += 1)
      for (const { x, measured } of cases)
        for (const [place, row] of rows.entries())
          measured[place].values.push(await figureOf(row, { limit: x, most, samples }));
    return cases.map(({ measured, ...one }) => ({ ...one, rows: rowsOf(measured) }));
  },
};

async function figureOf({ name, preparation, algorithm, share = 1 }, { samples, ...question }) {
  const process = processOf("limit-process.mjs", { name, nodeOptions: ["--expose-gc"] });
  const count = Math.max(3, Math.round(samples * share));
  try {
    return (await process.ask({ ...question, algorithm, preparation, samples: count })).value;
  } finally {
    await process.stop();
  }
}
