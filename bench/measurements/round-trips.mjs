import { connect } from "../contestants/connection.mjs";
import { check } from "../contestants/headgate-redis.mjs";
import { increment } from "../contestants/rate-limit-redis.mjs";
import { consume } from "../contestants/rate-limiter-flexible-redis.mjs";
import { rowsOf } from "../harness/contest.mjs";
import { startRedis } from "../servers/redis.mjs";
import { enough, windowMs } from "./limits.mjs";
import { withServer } from "./redis-contest.mjs";

const requests = 100;
const contestants = [
  { name: "headgate", make: check, ours: true },
  { name: "rate-limiter-flexible", make: consume },
  { name: "rate-limit-redis", make: increment },
];

export const roundTrips = {
  name: "round-trips",
  title: "Calls to Redis for each request",
  about: "One request after the other; calls that Redis counted.",
  unit: "calls",
  better: "lower",
  run: () =>
    withServer(startRedis, async (server) => {
      const cases = [];
      for (const [name, settings] of [
        ["1 policy, admitted", {}],
        ["4 policies, admitted", { policies: 4 }],
        ["refused again", { limit: 1 }],
      ])
        cases.push({ name, rows: await rows(server, settings) });
      return cases;
    }),
};

async function rows(server, settings) {
  const client = await connect(server);
  const measured = [];
  try {
    for (const { make, ...contestant } of contestants) {
      const { ask, close } = await make({
        limit: enough,
        windowMs,
        ports: server.ports,
        ...settings,
      });
      await client.flushall();
      // Whatever is done once for a script or a client, and the refusal that is then remembered.
      for (let request = 0; request < 2; request += 1) await settled(ask("client"));
      await client.config("RESETSTAT");
      for (let request = 0; request < requests; request += 1) await settled(ask("client"));
      measured.push({ ...contestant, values: [(await callsOf(client)) / requests] });
      await close();
    }
    return rowsOf(measured);
  } finally {
    client.disconnect();
  }
}

/** A refusal that is thrown is an answer as well. */
async function settled(answer) {
  await answer.catch((thrown) => {
    if (thrown instanceof Error) throw thrown;
  });
}

/** Scripts that ran: each contestant decides by them alone. */
async function callsOf(client) {
  const statistics = await client.info("commandstats");
  const calls = [...statistics.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)];
  return calls.reduce((sum, [, count]) => sum + Number(count), 0);
}
