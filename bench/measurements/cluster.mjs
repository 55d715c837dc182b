import { startCluster } from "../servers/cluster.mjs";
import {
  flexible,
  headgate,
  incr,
  pipelinedIncr,
  rateLimitRedis,
  redisContest,
  withServer,
} from "./redis-contest.mjs";

const contestants = [
  { ...headgate, note: "one pipeline of calls, one call for each client" },
  flexible,
  { ...rateLimitRedis, note: "its script is loaded into every node beforehand" },
  incr,
  pipelinedIncr,
];

export const cluster = {
  name: "cluster",
  title: "Decisions in a Redis Cluster",
  about: "Three primaries on the same machine, one client each, 64 requests in flight.",
  unit: "decisions/s",
  better: "higher",
  run: (options) =>
    withServer(startCluster, async (server) => [
      {
        name: "64 in flight",
        rows: await redisContest(contestants, { server, width: 64, options }),
      },
    ]),
};
