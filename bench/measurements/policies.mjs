import { contest, perSecond } from "../harness/contest.mjs";
import { startRedis } from "../servers/redis.mjs";
import { enough, windowMs } from "./limits.mjs";
import {
  flexible,
  headgate,
  pipelinedIncr,
  rateLimitRedis,
  redisContest,
  withServer,
} from "./redis-contest.mjs";

const inMemory = [
  { name: "headgate", module: "headgate", make: "checkAll", driver: "sync", ours: true },
  {
    name: "express-rate-limit",
    module: "express-rate-limit",
    make: "incrementAll",
    driver: "awaited",
    note: "one store after the other, as its middlewares would",
  },
  {
    name: "rate-limiter-flexible, union",
    module: "rate-limiter-flexible",
    make: "consumeAll",
    driver: "awaited",
    note: "a refusal by one leaves the others charged",
  },
];

const overRedis = [
  headgate,
  {
    ...flexible,
    name: "rate-limiter-flexible, union",
    note: "a refusal by one leaves the others charged",
  },
  { ...rateLimitRedis, note: "one store after the other, as its middlewares would" },
  pipelinedIncr,
];

export const policies = {
  name: "policies",
  title: "Several policies for a request, in memory",
  about: "All of them fixed windows by the same user, 10,000 users; a request is admitted by all.",
  unit: "requests/s",
  better: "higher",
  growth: "policies",
  async run({ rounds, roundMs, warmUpMs, policyCounts, redisKeys: keys }) {
    const cases = [];
    for (const count of policyCounts) {
      const rows = await contest({
        contestants: inMemory.map(({ driver, ...contestant }) => ({
          ...contestant,
          settings: { limit: enough, windowMs, policies: count },
          drive: { driver, keys },
        })),
        rounds,
        roundMs,
        warmUpMs,
        expect: "admitted",
        figureOf: perSecond,
      });
      cases.push({ x: count, name: named(count), rows });
    }
    return cases;
  },
};

export const redisPolicies = {
  ...policies,
  name: "redis-policies",
  title: "Several policies for a request, in Redis",
  about: "The same over one connection, 64 requests in flight.",
  run: (options) =>
    withServer(startRedis, async (server) => {
      const cases = [];
      for (const count of options.policyCounts) {
        const contestants = overRedis.map((contestant) => ({
          ...contestant,
          settings: { policies: count },
        }));
        const rows = await redisContest(contestants, { server, width: 64, options });
        cases.push({ x: count, name: named(count), rows });
      }
      return cases;
    }),
};

function named(count) {
  return `${count} ${count === 1 ? "policy" : "policies"}`;
}
