import { contest, perSecond } from "../harness/contest.mjs";
import { enough, windowMs } from "./limits.mjs";

const contestants = [
  { name: "headgate, store.apply", module: "headgate", make: "apply", driver: "sync", ours: true },
  {
    name: "headgate, limiter.check",
    module: "headgate",
    make: "check",
    driver: "sync",
    ours: true,
    note: "also makes the subject of an identity, and the decision",
  },
  {
    name: "express-rate-limit, store.increment",
    module: "express-rate-limit",
    make: "increment",
    driver: "awaited",
    note: "counts, and leaves the verdict to its middleware",
  },
  {
    name: "rate-limiter-flexible, consume",
    module: "rate-limiter-flexible",
    make: "consume",
    driver: "awaited",
  },
  { name: "floor: a Map", module: "floor", make: "map", driver: "sync" },
];

export const memory = {
  name: "memory",
  title: "Decisions in memory",
  about:
    "One policy, a fixed window that begins with a key's first request, keys of 16 characters drawn at random.",
  unit: "decisions/s",
  better: "higher",
  growth: "keys",
  async run({ keyCounts, refusedKeyCounts, ...options }) {
    const cases = [];
    for (const keys of keyCounts)
      cases.push({
        x: keys,
        name: `${named(keys)}, admitted`,
        rows: await admitted(keys, options),
      });
    for (const keys of refusedKeyCounts)
      cases.push({ name: `${named(keys)}, refused`, rows: await refused(keys, options) });
    return cases;
  },
};

function admitted(keys, options) {
  return measure(keys, { limit: enough, expect: "admitted" }, options);
}

function refused(keys, options) {
  return measure(keys, { limit: 1, expect: "refused" }, options);
}

function measure(keys, { limit, expect }, { rounds, roundMs, warmUpMs }) {
  return contest({
    contestants: contestants.map(({ driver, ...contestant }) => ({
      ...contestant,
      settings: { limit, windowMs, maxKeys: 16_000_000 },
      drive: { driver, keys },
      nodeOptions: keys > 1_000_000 ? ["--max-old-space-size=8192"] : [],
    })),
    rounds,
    roundMs,
    warmUpMs,
    expect,
    figureOf: perSecond,
  });
}

function named(keys) {
  return `${keys.toLocaleString("en")} keys`;
}
