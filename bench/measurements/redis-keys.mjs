import {
  createLimiter,
  fixedWindow,
  leakyBucket,
  slidingWindow,
  slidingWindowCounter,
  tokenBucket,
} from "@headgate/core";
import { ManualClock } from "@headgate/core/testing";
import { redisStore } from "@headgate/redis";
import { connect } from "../contestants/connection.mjs";
import { increment } from "../contestants/rate-limit-redis.mjs";
import { consume } from "../contestants/rate-limiter-flexible-redis.mjs";
import { rowsOf } from "../harness/contest.mjs";
import { startRedis } from "../servers/redis.mjs";
import { enough, windowMs } from "./limits.mjs";
import { withServer } from "./redis-contest.mjs";

const events = 1_000;
const numbers = { limit: 10_000, window: windowMs, by: "user" };
const policies = {
  fixed: fixedWindow(numbers),
  token: tokenBucket(numbers),
  count: slidingWindowCounter(numbers),
  leaky: leakyBucket({ ...numbers, queue: 20 }),
  event: slidingWindow(numbers),
};
/** Makes keys of 25 bytes: `headgate:{user=7}:fixed` and two more. */
const user = "123";

export const redisKeys = {
  name: "redis-keys",
  title: "Memory for each key in Redis",
  about: "MEMORY USAGE of a key of 25 bytes, Redis's own overhead included.",
  unit: "bytes",
  better: "lower",
  run: () =>
    withServer(startRedis, async (server) => [{ name: "one key", rows: await rows(server) }]),
};

async function rows(server) {
  const client = await connect(server);
  const limiter = createLimiter({ store: redisStore(client), policies });
  // Events of one millisecond share their place in a log, so each gets another one.
  const clock = new ManualClock(1_700_000_000_000);
  const log = createLimiter({ store: redisStore(client, { clock }), policies });
  const measured = [];
  const add = (row) => measured.push({ ...row, values: [row.bytes] });
  try {
    for (const name of ["fixed", "token", "count", "leaky"]) {
      await limiter.check(name, { user });
      const bytes = await bytesOf(client, `headgate:{user=${user}}:${name}`);
      add({ name: `headgate, ${policies[name].algorithm}`, ours: true, bytes });
    }
    for (let count = 0; count < events; count += 1) {
      await log.check("event", { user });
      clock.advance(1 + (count % 1_000));
    }
    const bytes = (await bytesOf(client, `headgate:{user=${user}}:event`)) / events;
    add({ name: "headgate, sliding-window, for each event", ours: true, bytes });
    const settings = { limit: enough, windowMs, ports: server.ports };
    // Their prefixes are "rl-0:" and "rlflx-0:".
    await askOnce(await increment(settings), "k".repeat(20));
    add({ name: "rate-limit-redis", bytes: await bytesOf(client, `rl-0:${"k".repeat(20)}`) });
    await askOnce(await consume(settings), "k".repeat(17));
    add({
      name: "rate-limiter-flexible",
      bytes: await bytesOf(client, `rlflx-0:${"k".repeat(17)}`),
    });
    return rowsOf(measured);
  } finally {
    await limiter.close();
    await log.close();
    client.disconnect();
  }
}

async function askOnce({ ask, close }, key) {
  await ask(key);
  await close();
}

async function bytesOf(client, key) {
  if (key.length !== 25) throw new Error(`"${key}" has ${key.length} bytes, not 25`);
  const bytes = await client.memory("USAGE", key);
  if (bytes === null) throw new Error(`there is no key "${key}"`);
  return bytes;
}
