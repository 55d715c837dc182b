// Compiled against the types of Express 5 with all tests, and against those of Express 4 by types.test.ts.
import { createLimiter, fixedWindow, type Limiter, tokenBucket } from "@headgate/core";
import express, { Router } from "express";
import { decisionOf, rateLimit, rateLimits } from "../../src/index.js";

const minute = fixedWindow({ limit: 5, window: "1m" });
const limiter = createLimiter({
  policies: { read: minute, write: tokenBucket({ limit: 1, window: "1s", by: "user" }) },
});
const limit = rateLimits({ limiter, identify: (req) => ({ user: req.get("authorization") }) });
const policies = { free: minute, pro: minute };

/** An application that needs no cast anywhere. */
export function mount(): void {
  const app = express();
  app.use(rateLimit({ policy: minute }));
  app.use(rateLimit({ policy: minute }), limit("read"));
  app.use("/api", limit("read"), (req, res) => void res.json(decisionOf(req)?.remaining));
  app.get("/:id", limit("read", "write"), (req, res) => void res.json(req.params.id));
  app.post("/", limit("read", { cost: (req) => req.body.items.length }));
  app.all(
    "/",
    limit((req) => (req.ip === undefined ? "read" : ["read", "write"])),
  );
  app.route("/route").get(limit("read")).post(limit("write"));
  Router().use(limit("read"));
}

/** A function chooses names, several, none, now or later. */
export function choose(): void {
  limit(() => "read");
  limit(() => false);
  limit((req) => (req.ip === undefined ? "write" : false));
  limit((req) => (req.ip === undefined ? ["read", "write"] : "read"));
  limit(async (req) => (req.ip === undefined ? false : "write"));
  limit(() => "read", { cost: 2 });
  rateLimit({ policies, policy: () => "free" });
  rateLimit({ policies, policy: () => false });
  rateLimit({ policies, policy: (req) => (req.ip === undefined ? "free" : "pro") });
  rateLimit({ policies, policy: (req) => (req.ip === undefined ? false : "pro") });
  rateLimit({ policies, policy: async (req) => (req.ip === undefined ? false : "pro") });
  rateLimit({ policies, policy: (req) => (req.ip === undefined ? ["free", "pro"] : "free") });
}

/** Costs and skips may be given by policy name. */
export function price(): void {
  rateLimits({ limiter, skip: { read: () => false } });
  limit("read", "write", { cost: { write: 1 } });
  limit("read", { cost: async () => ({ read: 2, write: 1 }) });
  limit("write", { skip: async (req) => req.ip === "::1" });
  rateLimit({ policy: minute, cost: (req) => req.body?.length ?? 1 });
  rateLimit({ policy: minute, key: async (req) => req.get("x-api-key") });
  limit("read", { tier: async (req) => req.get("x-plan"), limits: { read: () => ({ limit: 5 }) } });
  limit.group("read").group("write", { cost: 1 })("write", { override: { read: false } });
  limit.group("read")();
  limit.group("read")({ override: { read: "write" }, route: "/items/:id" });
  limit.group("read")(() => false);
  limit.group("read")((req) => (req.ip === undefined ? "write" : false));
  rateLimits({ limiter, inherit: ["read"] })("write", {
    succeeded: (_req, res) => res.statusCode < 500,
  });
  limiter satisfies Limiter<"read" | "write">;
}

/** What is wrong does not compile. */
export function refuse(): void {
  // @ts-expect-error: no policy has this name
  limit("raed");
  // @ts-expect-error: nor this one, beside one that is
  limit("read", "wrtie");
  // @ts-expect-error: a function cannot choose it either
  limit(() => "raed");
  // @ts-expect-error: a cost for a policy that is not there
  limit("read", { cost: { raed: 1 } });
  // @ts-expect-error: a skip for a policy that is not there
  limit("read", { skip: { raed: () => true } });
  // @ts-expect-error: no policy at all
  limit();
  // @ts-expect-error: only options
  limit({ cost: 1 });
  // @ts-expect-error: an option that is not there
  limit("read", { costs: 1 });
  // @ts-expect-error: options of another package
  rateLimit({ windowMs: 60_000, max: 5 });
  // @ts-expect-error: a chosen name that is not there
  rateLimit({ policies: { free: minute }, policy: () => "pro" });
  // @ts-expect-error: several policies without a choice
  rateLimit({ policies: { free: minute } });
  // @ts-expect-error: a key that is no function
  rateLimit({ policy: minute, key: "user" });
  // @ts-expect-error: an inherited policy that is not there
  rateLimits({ limiter, inherit: ["raed"] });
  // @ts-expect-error: nor one of a group
  limit.group("raed");
  // @ts-expect-error: a function of a group's mount cannot choose it either
  limit.group("read")(() => "raed");
  // @ts-expect-error: nor can its options override it
  limit.group("read")({ override: { raed: false } });
  // @ts-expect-error: an override of a policy that is not there
  limit("read", { override: { raed: false } });
  // @ts-expect-error: another policy in its place that is not there
  limit("read", { override: { read: "wrtie" } });
  // @ts-expect-error: limits for a policy that is not there
  limit("read", { limits: { raed: () => ({ limit: 5 }) } });
  // @ts-expect-error: a tier that is no text
  limit("read", { tier: () => 5 });
  // @ts-expect-error: no limiter
  rateLimits({});
}
