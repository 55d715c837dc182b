import { setTimeout as pause } from "node:timers/promises";
import { createLimiter, fixedWindow } from "@headgate/core";
import { redisStore } from "@headgate/redis";
import { connect } from "../contestants/connection.mjs";
import { rowsOf } from "../harness/contest.mjs";
import { startRedis } from "../servers/redis.mjs";
import { enough, windowMs } from "./limits.mjs";
import { withServer } from "./redis-contest.mjs";

const deadlineMs = 200;
/** Failures in a row that open the breaker. */
const failures = 5;
const withBreakerOpen = 100;
const atOnce = 64;
const pausedMs = 2_500;

/** What stops a server from answering. */
const stops = [
  {
    name: "Redis stopped (SIGSTOP)",
    stop: ({ server }) => server.process.kill("SIGSTOP"),
    resume: ({ server }) => server.process.kill("SIGCONT"),
  },
  {
    // A server that is paused takes no command to go on.
    name: "Redis paused (CLIENT PAUSE ALL)",
    stop: ({ client }) => client.call("CLIENT", "PAUSE", String(pausedMs), "ALL"),
    resume: ({ client }) => client.ping(),
  },
];

export const outages = {
  name: "outages",
  title: "Requests while Redis does not answer",
  about: `limiter.check with the default deadline of ${deadlineMs} ms and a policy that enforces locally: the slowest answers.`,
  unit: "ms",
  better: "lower",
  async run() {
    const cases = [];
    for (const { name, ...outage } of stops)
      cases.push({ name, rows: await withServer(startRedis, (server) => rows(server, outage)) });
    return cases;
  },
};

async function rows(server, { stop, resume }) {
  const client = await connect(server);
  const limiter = createLimiter({
    store: redisStore(client),
    policies: { policy: fixedWindow({ limit: enough, window: windowMs, by: "user" }) },
    deadlineMs,
    onStoreError: () => {},
  });
  const check = async () => {
    const startMs = performance.now();
    const { degraded } = await limiter.check("policy", { user: "client" });
    return { tookMs: performance.now() - startMs, degraded };
  };
  try {
    await check();
    await stop({ server, client });
    const burst = await slowest(Array.from({ length: atOnce }, check));
    for (let failed = atOnce; failed < failures; failed += 1) await check();
    const open = [];
    for (let asked = 0; asked < withBreakerOpen; asked += 1) open.push(await check());
    await resume({ server, client });
    const recoveryMs = await untilRecovered(check);
    const made = [
      { name: `${atOnce} requests at once, the slowest`, values: [burst] },
      { name: "with the breaker open, the slowest", values: [await slowest(open)] },
      { name: "from the server's return to the first shared decision", values: [recoveryMs] },
    ];
    return rowsOf(made.map((row) => ({ ...row, ours: true })));
  } finally {
    await limiter.close();
    client.disconnect();
  }
}

async function slowest(checks) {
  const answers = await Promise.all(checks);
  if (answers.some(({ degraded }) => degraded !== "local"))
    throw new Error("the server answered while it was to be stopped");
  return Math.max(...answers.map(({ tookMs }) => tookMs));
}

async function untilRecovered(check) {
  const startMs = performance.now();
  while ((await check()).degraded !== "none") await pause(5);
  return performance.now() - startMs;
}
