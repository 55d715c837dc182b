import { contest, perSecond } from "../harness/contest.mjs";
import { enough, windowMs } from "./limits.mjs";

export const headgate = { name: "headgate", module: "headgate-redis", make: "check", ours: true };
export const flexible = {
  name: "rate-limiter-flexible",
  module: "rate-limiter-flexible-redis",
  make: "consume",
};
export const rateLimitRedis = {
  name: "rate-limit-redis",
  module: "rate-limit-redis",
  make: "increment",
  note: "counts, and leaves the verdict to express-rate-limit",
};
export const incr = { name: "floor: INCR", module: "floor-redis", make: "incr" };
export const pipelinedIncr = {
  name: "floor: INCR, pipelined",
  module: "floor-redis",
  make: "pipelinedIncr",
  note: "ioredis's enableAutoPipelining",
};

/** What a contestant asks in Redis, with so many requests in flight. */
export function onRedis({ settings, ...contestant }, { server, width, keys, limit = enough }) {
  return {
    ...contestant,
    settings: { limit, windowMs, ports: server.ports, ...settings },
    drive: { driver: "inFlight", width, keys },
  };
}

/** A contest of clients with one connection each. */
export function redisContest(contestants, { options, expect = "admitted", ...conditions }) {
  const { rounds, roundMs, warmUpMs, redisKeys: keys } = options;
  return contest({
    contestants: contestants.map((contestant) => onRedis(contestant, { keys, ...conditions })),
    rounds,
    roundMs,
    warmUpMs,
    expect,
    figureOf: perSecond,
  });
}

/** A server for as long as something is measured. */
export async function withServer(start, measure) {
  const server = await start();
  try {
    return await measure(server);
  } finally {
    await server.stop();
  }
}
