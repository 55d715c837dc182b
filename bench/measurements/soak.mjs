import autocannon from "autocannon";
import { rowsOf } from "../harness/contest.mjs";
import { processOf } from "../harness/process-of.mjs";
import { startRedis } from "../servers/redis.mjs";
import { withServer } from "./redis-contest.mjs";

const connections = 64;

export const soak = {
  name: "soak",
  title: "Soak",
  about: `Express at full load from ${connections} connections, a policy in memory and one in Redis, 100,000 clients whose windows end all the time. Heap and open resources are those of the server, after garbage collection, with its connections closed.`,
  unit: "ms",
  better: "lower",
  growth: "period",
  run: ({ soakPeriods, soakPeriodSeconds }) =>
    withServer(startRedis, async ({ ports }) => {
      const server = processOf("soak-process.mjs", { nodeOptions: ["--expose-gc"] });
      try {
        const { port } = await server.ask({ ports });
        const url = `http://127.0.0.1:${port}/`;
        const cases = [];
        for (let period = 1; period <= soakPeriods; period += 1) {
          const result = await autocannon({ url, connections, duration: soakPeriodSeconds });
          if (result.errors > 0) throw new Error(`soak: ${result.errors} requests failed`);
          const rows = rowsOf(rowsOfPeriod(result, await server.ask({})));
          cases.push({ x: period, name: `period ${period} of ${soakPeriodSeconds} s`, rows });
        }
        return cases;
      } finally {
        await server.stop();
      }
    }),
};

function rowsOfPeriod({ requests, latency, start, finish }, { megabytes, resources }) {
  return [
    { name: "latency, median", values: [latency.p50] },
    { name: "latency, 99th percentile", values: [latency.p99] },
    { name: "latency, 99.9th percentile", values: [latency.p99_9] },
    { name: "requests", unit: "requests/s", values: [(requests.total * 1_000) / (finish - start)] },
    { name: "heap and typed arrays", unit: "MB", values: [megabytes] },
    { name: "open resources", unit: "resources", values: [resources] },
  ].map((row) => ({ ...row, ours: true }));
}
