import { readFileSync } from "node:fs";
import { createLimiter } from "@headgate/core";
import { bans, settle, unban } from "@headgate/core/policies";
import { readPolicies } from "@headgate/core/schema";
import { decisionOf, rateLimits } from "@headgate/express";
import express from "express";

// All limits stand in one file; a fault in it is told with its path before anything is served.
const file = readFileSync(new URL("policies.json", import.meta.url), "utf8");
export const policies = readPolicies(JSON.parse(file));

// Stand for a database of accounts, with the plan of each tenant. The plan "free" is a policy's own numbers.
const users = new Map([
  ["key-ada", { id: "ada", tenant: "analytical" }],
  ["key-grace", { id: "grace", tenant: "harbour", plan: "pro" }],
  ["key-root", { id: "root", tenant: "us", plan: "enterprise", staff: true }],
]);
const passwords = new Map([["ada", "engine"]]);

/** An API of many tenants. Without a store it counts in this process. */
export function createApp({ store, clock, deadlineMs, complete = shout } = {}) {
  const limiter = createLimiter({ store, clock, deadlineMs, policies });
  const limit = rateLimits({
    limiter,
    identify: ({ user, body }) => ({
      user: user?.id,
      tenant: user?.tenant,
      account: body?.account,
    }),
    // A plan is a tier: other numbers of one policy. Who upgrades keeps what is used.
    tier: ({ user }) => user?.plan,
  });
  // One decision for all layers: a request that one of them refuses is charged to none.
  const api = limit.group("everybody", "tenant", "user", "stricter");

  const app = express();
  app.locals.limiter = limiter;
  app.use(express.json());
  // Each attempt is charged when it arrives, and given back or cleared if it turns out well.
  app.post("/login", limit("login"), ({ body }, res) => {
    const ok = passwords.has(body.account) && passwords.get(body.account) === body.password;
    res.status(ok ? 200 : 401).json({ ok });
  });

  app.use(authenticate);

  app.get("/projects", api(), (_req, res) => res.json({ projects: ["difference engine"] }));

  // An expensive route costs by what it is asked for: a month of data is one.
  const months = ({ query }) => Math.max(1, Math.floor(Number(query.months)) || 1);
  app.get("/report", api("reports", { cost: (req) => ({ reports: months(req) }) }), (req, res) =>
    res.json({ months: months(req), left: decisionOf(req).remaining }),
  );

  // The price is known afterwards: an estimate is reserved, and settled with the tokens used.
  const estimate = ({ body }) => ({ tokens: Math.ceil(String(body?.prompt).length / 4) });
  app.post("/complete", api("prompts", "tokens", { cost: estimate }), async (req, res) => {
    const { text, tokens } = await complete(req.body.prompt);
    await settle(limiter, decisionOf(req), { tokens });
    res.json({ text, tokens });
  });

  // Staff see who is banned, and may pardon.
  const staff = ({ user }, res, next) => (user.staff ? next() : res.status(403).end());
  app.get("/bans", staff, async (_req, res) => res.json(await bans(limiter)));
  app.post("/pardon", staff, async ({ body }, res) => {
    await unban(limiter, "login", body);
    res.status(204).end();
  });
  return app;
}

function authenticate(req, res, next) {
  req.user = users.get(req.get("x-api-key"));
  if (req.user === undefined) res.status(401).json({ error: { code: "UNAUTHENTICATED" } });
  else next();
}

const shout = async (prompt) => ({ text: prompt.toUpperCase(), tokens: prompt.length });
