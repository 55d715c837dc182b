import { RateLimiterMemory, RateLimiterUnion } from "rate-limiter-flexible";

function limiterOf({ limit, windowMs }, keyPrefix = "rlflx") {
  return new RateLimiterMemory({ points: limit, duration: windowMs / 1_000, keyPrefix });
}

export function consume(settings) {
  const limiter = limiterOf(settings);
  return {
    ask: (key) => limiter.consume(key),
    admits: ({ consumedPoints }) => consumedPoints <= settings.limit,
  };
}

/** Several limiters at once. */
export function consumeAll({ policies: count, ...settings }) {
  const limiters = Array.from({ length: count }, (_, index) =>
    limiterOf(settings, `rlflx-${index}`),
  );
  const union = new RateLimiterUnion(...limiters);
  return {
    ask: (key) => union.consume(key),
    admits: (answers) => answers["rlflx-0"].consumedPoints <= settings.limit,
  };
}

/** What its documentation shows for Express, with the three fields on every response. */
export function middleware(settings) {
  const limiter = limiterOf(settings);
  const limit = String(settings.limit);
  const setFields = (response, { remainingPoints, msBeforeNext }) => {
    response.setHeader("X-RateLimit-Limit", limit);
    response.setHeader("X-RateLimit-Remaining", String(remainingPoints));
    const resetSeconds = Math.ceil((Date.now() + msBeforeNext) / 1_000);
    response.setHeader("X-RateLimit-Reset", String(resetSeconds));
  };
  return {
    ask: (request, response, next) => {
      limiter.consume(request.ip).then(
        (admitted) => {
          setFields(response, admitted);
          next();
        },
        (refused) => {
          setFields(response, refused);
          response.setHeader("Retry-After", String(Math.ceil(refused.msBeforeNext / 1_000)));
          response.status(429).send("Too Many Requests");
        },
      );
    },
  };
}
