// The least code that could do it: nothing is checked, nothing is bounded, and no key is ever dropped.

function counter({ limit, windowMs }) {
  const windows = new Map();
  return (key) => {
    const now = Date.now();
    let window = windows.get(key);
    if (window === undefined) {
      window = { count: 0, endMs: now + windowMs };
      windows.set(key, window);
    } else if (now >= window.endMs) {
      window.count = 0;
      window.endMs = now + windowMs;
    }
    if (window.count === limit) return undefined;
    window.count += 1;
    return window;
  };
}

/** A Map of counters. */
export function map(settings) {
  return { ask: counter(settings), admits: (window) => window !== undefined };
}

/** A Map of numbers, without even a window. */
export function numbers() {
  const counts = new Map();
  return { ask: (key) => counts.set(key, (counts.get(key) ?? 0) + 1) };
}

/** The Map of counters, and the three fields. */
export function middleware(settings) {
  const count = counter(settings);
  const limit = String(settings.limit);
  return {
    ask: (request, response, next) => {
      const window = count(request.ip);
      const remaining = window === undefined ? 0 : settings.limit - window.count;
      const endMs = window === undefined ? Date.now() + settings.windowMs : window.endMs;
      response.setHeader("X-RateLimit-Limit", limit);
      response.setHeader("X-RateLimit-Remaining", String(remaining));
      response.setHeader("X-RateLimit-Reset", String(Math.ceil(endMs / 1_000)));
      if (window !== undefined) {
        next();
        return;
      }
      response.setHeader("Retry-After", "1");
      response.status(429).send("Too Many Requests");
    },
  };
}

/** No limiter: what the request itself costs. */
export function nothing() {
  return { ask: (_request, _response, next) => next() };
}
