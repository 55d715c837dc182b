import autocannon from "autocannon";
import { rowsOf } from "../harness/contest.mjs";
import { processOf } from "../harness/process-of.mjs";
import { middlewaresFor } from "./middleware.mjs";

const connections = 50;

export const http = {
  name: "http",
  title: "Express over HTTP",
  about: `Express 5 with the same middlewares, ${connections} connections from one client (autocannon), one server after the other within a round.`,
  unit: "requests/s",
  better: "higher",
  async run({ httpRounds, httpLoad }) {
    const cases = [];
    for (const expect of ["admitted", "refused"]) {
      const servers = [];
      try {
        for (const contestant of middlewaresFor(expect)) servers.push(await start(contestant));
        // The first round warms up.
        for (let round = -1; round < httpRounds; round += 1) {
          for (let turn = 0; turn < servers.length; turn += 1) {
            const server = servers[(round + 1 + turn) % servers.length];
            const value = await load(server, { expect, httpLoad });
            if (round >= 0) server.values.push(value);
          }
        }
      } finally {
        await Promise.all(servers.map(({ stop }) => stop()));
      }
      cases.push({ name: expect, rows: rowsOf(servers) });
    }
    return cases;
  },
};

async function start({ name, note, ours, module, make, settings }) {
  const process = processOf("server-process.mjs", { name });
  const { port } = await process.ask({ module, make, settings });
  return { name, note, ours, values: [], stop: process.stop, url: `http://127.0.0.1:${port}/` };
}

/** Requests a second. */
async function load({ name, url }, { expect, httpLoad }) {
  const result = await autocannon({ url, connections, ...httpLoad });
  const { "2xx": admitted, non2xx: refused, errors, requests, start, finish } = result;
  // One request is within the limit of 1, and those on their way at the end are counted nowhere.
  const wrong = expect === "admitted" ? refused : Math.max(0, admitted - 1);
  if (wrong > 0 || errors > 0)
    throw new Error(
      `${name}: ${wrong} of ${requests.total} answers were not ${expect}, ${errors} failed`,
    );
  return (requests.total * 1_000) / (finish - start);
}
