import { startRedis } from "../servers/redis.mjs";
import {
  flexible,
  headgate,
  incr,
  pipelinedIncr,
  rateLimitRedis,
  redisContest,
  withServer,
} from "./redis-contest.mjs";

const contestants = [headgate, flexible, rateLimitRedis, incr, pipelinedIncr];

export const redis = {
  name: "redis",
  title: "Decisions in Redis",
  about:
    "One server, one connection each, 10,000 keys, one fixed window, all admitted. Ours is `limiter.check` with its deadline and its breaker.",
  unit: "decisions/s",
  better: "higher",
  growth: "requests in flight",
  run: (options) =>
    withServer(startRedis, async (server) => {
      const cases = [];
      for (const width of options.widths) {
        const rows = await redisContest(contestants, { server, width, options });
        cases.push({ x: width, name: `${width.toLocaleString("en")} in flight`, rows });
      }
      return cases;
    }),
};
