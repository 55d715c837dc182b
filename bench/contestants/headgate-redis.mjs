// Headgate over Redis, with the deadline, the breaker and the connection of its own that it has by default.
import { createLimiter, fixedWindow } from "@headgate/core";
import { redisStore } from "@headgate/redis";
import { connect } from "./connection.mjs";

/** Longer than the default, so that no decision is lost on a machine that is busy with something else. */
const deadlineMs = 10_000;

/** `limiter.check` under one policy, or under several at once. */
export async function check({ limit, windowMs, policies: count = 1, denyCache = true, ...server }) {
  const client = await connect(server);
  const store = redisStore(client, { denyCache, callTimeoutMs: deadlineMs });
  const policy = fixedWindow({ limit, window: windowMs, anchor: "first-request", by: "user" });
  const names = Array.from({ length: count }, (_, index) => `policy-${index}`);
  const policies = Object.fromEntries(names.map((name) => [name, policy]));
  const limiter = createLimiter({ store, policies, deadlineMs });
  const close = async () => {
    await limiter.close();
    client.disconnect();
  };
  return { ask: (user) => limiter.check(names, { user }), admits, close };
}

function admits({ allowed, degraded }) {
  if (degraded !== "none") throw new Error("the store failed, and the decision is another one's");
  return allowed;
}
