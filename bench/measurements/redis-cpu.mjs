import { connect } from "../contestants/connection.mjs";
import { enter, rowsOf } from "../harness/contest.mjs";
import { startRedis } from "../servers/redis.mjs";
import {
  flexible,
  headgate,
  onRedis,
  pipelinedIncr,
  rateLimitRedis,
  withServer,
} from "./redis-contest.mjs";

const contestants = [headgate, flexible, rateLimitRedis, pipelinedIncr];

export const redisCpu = {
  name: "redis-cpu",
  title: "What a decision costs Redis",
  about:
    "Processor time of the server for each decision, 256 in flight: a million microseconds are what one Redis core has in a second.",
  unit: "µs",
  better: "lower",
  run: (options) =>
    withServer(startRedis, async (server) => {
      const admin = await connect(server);
      const entrants = [];
      try {
        for (const contestant of contestants) {
          const entry = onRedis(contestant, { server, width: 256, keys: options.redisKeys });
          entrants.push(await enter(entry, options.warmUpMs));
        }
        for (let round = 0; round < options.rounds; round += 1)
          for (const { measure, values } of entrants) {
            const before = await cpuMicroseconds(admin);
            const { operations } = await measure(options.roundMs);
            values.push(((await cpuMicroseconds(admin)) - before) / operations);
          }
        return [{ name: "256 in flight", rows: rowsOf(entrants) }];
      } finally {
        await Promise.all(entrants.map(({ stop }) => stop()));
        admin.disconnect();
      }
    }),
};

async function cpuMicroseconds(client) {
  const text = await client.info("cpu");
  const seconds = (name) => Number(new RegExp(`used_cpu_${name}:([\\d.]+)`).exec(text)?.[1]);
  return (seconds("user") + seconds("sys")) * 1e6;
}
