import { startRedis } from "../servers/redis.mjs";
import { flexible, headgate, rateLimitRedis, redisContest, withServer } from "./redis-contest.mjs";

const contestants = [
  { ...headgate, note: "remembers refusals while they are certain" },
  {
    ...flexible,
    name: "rate-limiter-flexible, inMemoryBlockOnConsumed",
    settings: { blocksInMemory: true },
  },
  { ...headgate, name: "headgate, denyCache: false", settings: { denyCache: false } },
  flexible,
  rateLimitRedis,
];

export const refused = {
  name: "refused",
  title: "Refused again, over Redis",
  about: "Clients that keep asking: a limit of 1 that is used up, 64 in flight.",
  unit: "decisions/s",
  better: "higher",
  run: (options) =>
    withServer(startRedis, async (server) => {
      const conditions = { server, width: 64, limit: 1, expect: "refused" };
      return [
        { name: "refused", rows: await redisContest(contestants, { ...conditions, options }) },
      ];
    }),
};
