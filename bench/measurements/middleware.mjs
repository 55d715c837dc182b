import { contest, nanoseconds } from "../harness/contest.mjs";
import { enough, windowMs } from "./limits.mjs";

const keys = 10_000;

/** Each with the middleware that its module makes. */
const middlewares = [
  { name: "headgate", module: "headgate", ours: true },
  { name: "express-rate-limit", module: "express-rate-limit", note: "sets Date as well" },
  { name: "rate-limiter-flexible, by hand", module: "rate-limiter-flexible" },
  { name: "floor: a Map", module: "floor" },
  { name: "floor: no limiter", module: "floor", make: "nothing", neverRefuses: true },
].map(({ make = "middleware", ...contestant }) => ({ ...contestant, make }));

/** Those that can do it. */
export function middlewaresFor(expect) {
  return middlewares
    .filter(({ neverRefuses }) => expect === "admitted" || !neverRefuses)
    .map((contestant) => ({
      ...contestant,
      settings: { limit: expect === "admitted" ? enough : 1, windowMs },
    }));
}

export const middleware = {
  name: "middleware",
  title: "Express middleware in process",
  about:
    "By address, one policy in memory, a fixed window, X-RateLimit-Limit, -Remaining and -Reset on every response; request and response are stand-ins that cost the same for all.",
  unit: "ns",
  better: "lower",
  async run({ rounds, roundMs, warmUpMs }) {
    const cases = [];
    for (const expect of ["admitted", "refused"]) {
      const contestants = middlewaresFor(expect).map((contestant) => ({
        ...contestant,
        drive: { driver: "middleware", keys },
      }));
      const figureOf = nanoseconds;
      const rows = await contest({ contestants, rounds, roundMs, warmUpMs, expect, figureOf });
      cases.push({ name: expect, rows });
    }
    return cases;
  },
};
