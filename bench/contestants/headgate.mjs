// Headgate in this process.
import { createLimiter, fixedWindow, memoryStore, tokenBucket } from "@headgate/core";
import { rateLimit } from "@headgate/express";

/** What the others have: a window that begins with a key's first request. */
function policyOf({ algorithm = "fixed-window", limit, windowMs }) {
  if (algorithm === "token-bucket") return tokenBucket({ limit, window: windowMs, by: "user" });
  return fixedWindow({ limit, window: windowMs, anchor: "first-request", by: "user" });
}

function limiterOf({ policies: count = 1, maxKeys = 1_000_000, ...settings }) {
  const names = Array.from({ length: count }, (_, index) => `policy-${index}`);
  const policies = Object.fromEntries(names.map((name) => [name, policyOf(settings)]));
  return createLimiter({ store: memoryStore({ maxKeys }), policies });
}

/** One charge through `store.apply`. */
export function apply(settings) {
  const { store, policies } = limiterOf(settings);
  const [policy] = Object.values(policies);
  return {
    ask: (subject) => store.apply([{ policy, subject, cost: 1 }], "commit"),
    admits: (outcomes) => outcomes[0].allowed,
  };
}

/** `limiter.check` under one policy, which also makes the subject and the decision. */
export function check(settings) {
  const limiter = limiterOf(settings);
  return { ask: (user) => limiter.check("policy-0", { user }), admits: ({ allowed }) => allowed };
}

/** The same under several policies at once. */
export function checkAll(settings) {
  const limiter = limiterOf(settings);
  const names = Object.keys(limiter.policies);
  return { ask: (user) => limiter.check(names, { user }), admits: ({ allowed }) => allowed };
}

export function middleware({ limit, windowMs }) {
  const policy = fixedWindow({ limit, window: windowMs, anchor: "first-request" });
  return { ask: rateLimit({ policy }) };
}
