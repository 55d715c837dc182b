import { MemoryStore, rateLimit } from "express-rate-limit";

function storeFor(windowMs) {
  const store = new MemoryStore();
  store.init({ windowMs });
  return store;
}

/** The store alone, without the middleware around it. */
export function increment({ limit, windowMs }) {
  const store = storeFor(windowMs);
  return { ask: (key) => store.increment(key), admits: ({ totalHits }) => totalHits <= limit };
}

/** Several stores, one after the other. */
export function incrementAll({ limit, windowMs, policies: count }) {
  const stores = Array.from({ length: count }, () => storeFor(windowMs));
  return {
    ask: async (key) => {
      let last;
      for (const store of stores) last = await store.increment(key);
      return last;
    },
    admits: ({ totalHits }) => totalHits <= limit,
  };
}

export function middleware({ limit, windowMs }) {
  return {
    ask: rateLimit({
      limit,
      windowMs,
      legacyHeaders: true,
      standardHeaders: false,
      validate: false,
    }),
  };
}
