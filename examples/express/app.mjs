import {
  createLimiter,
  fixedWindow,
  leakyBucket,
  slidingWindow,
  slidingWindowCounter,
  tokenBucket,
} from "@headgate/core";
import { decisionOf, rateLimits } from "@headgate/express";
import express from "express";

// Stands for a real lookup of API keys: a credential leads to the account that is counted.
const users = new Map([
  ["key-ada", { id: "ada", tier: "free" }],
  ["key-grace", { id: "grace", tier: "pro" }],
]);

/** An API with one limit of each kind. Without a store it counts in this process. */
export function createApp({ store, clock } = {}) {
  const limiter = createLimiter({
    store,
    clock,
    policies: {
      perIp: slidingWindowCounter({ limit: 300, window: "1m" }),
      freeReads: tokenBucket({ limit: 60, window: "1m", burst: 5, by: "user" }),
      proReads: tokenBucket({ limit: 600, window: "1m", burst: 50, by: "user" }),
      writes: slidingWindow({ limit: 5, window: "10s", by: "user", onStoreFailure: "closed" }),
      logins: fixedWindow({ limit: 5, window: "1m", anchor: "first-request", by: ["ip", "login"] }),
      jobs: leakyBucket({ limit: 2, window: "1s", queue: 3, by: "user" }),
    },
  });
  const limit = rateLimits({
    limiter,
    identify: (req) => ({ user: req.user?.id, login: req.body?.login }),
  });

  const app = express();
  app.disable("x-powered-by");
  app.locals.limiter = limiter;

  // The perimeter: before authentication, so that guessing keys is limited too.
  app.use(limit("perIp"));

  // The account is in the body, so this one route parses before it limits.
  app.post("/login", express.json(), limit("logins"), (_req, res) => res.json({ welcome: true }));

  app.use(authenticate);

  // A tier chooses its policy; what both have in common is the user they count.
  const reads = limit((req) => (req.user.tier === "pro" ? "proReads" : "freeReads"));
  app.get("/items", reads, (_req, res) => res.json({ items: ["anvil", "bellows", "tongs"] }));

  // Every item written costs one, and a refused request is never parsed further.
  const items = (req) => Math.max(1, Math.floor(Number(req.query.count)) || 1);
  app.post("/items", limit("writes", { cost: items }), (req, res) => {
    res.status(201).json({ left: decisionOf(req).remaining });
  });

  // Jobs leave two a second: three may wait their turn, and the next is refused.
  app.post("/jobs", limit("jobs"), (_req, res) => res.status(202).json({ started: true }));
  return app;
}

function authenticate(req, res, next) {
  req.user = users.get(req.get("x-api-key"));
  if (req.user === undefined)
    res.status(401).json({ error: { code: "UNAUTHENTICATED", message: "Send x-api-key." } });
  else next();
}
