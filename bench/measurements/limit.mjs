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
  async run({ limits, samples }) {
    const most = Math.max(...limits);
    const cases = [];
    for (const x of limits) {
      const measured = [];
      for (const { name, preparation, algorithm, share = 1, note, unit } of rows) {
        const process = processOf("limit-process.mjs", { name, nodeOptions: ["--expose-gc"] });
        const count = Math.max(3, Math.round(samples * share));
        try {
          const question = { algorithm, limit: x, most, preparation, samples: count };
          const { value } = await process.ask(question);
          measured.push({ name, note, unit, ours: true, values: [value] });
        } finally {
          await process.stop();
        }
      }
      cases.push({ x, name: `limit ${x.toLocaleString("en")}`, rows: rowsOf(measured) });
    }
    return cases;
  },
};
