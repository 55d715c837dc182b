// Serves the example, on Redis where REDIS_URL names one, shows over real HTTP what a client sees at its
// limit, and goes on serving. With --once it ends there; the exit code says whether every step was as promised.
import { setTimeout as sleep } from "node:timers/promises";
import { createApp } from "./app.mjs";
import { listen } from "./listen.mjs";
import { storeFromEnvironment } from "./store.mjs";

const once = process.argv.includes("--once");
const store = storeFromEnvironment();
const app = createApp({ store });
const server = await listen(app, Number(process.env.PORT ?? 3000));
const url = `http://127.0.0.1:${server.address().port}`;
const startedAt = performance.now();
let broken = 0;

// Redis may remember an earlier run. When it is down, this process starts from nothing anyway.
for (const [policy, user] of [
  ["freeReads", "ada"],
  ["proReads", "grace"],
]) {
  await Promise.resolve(app.locals.limiter.reset(policy, { user })).catch(() => {});
}

console.log(
  `Headgate example at ${url}, counting ${store === undefined ? "in this process" : "in Redis"}: GET /items allows bursts of 5 and one more each second.\n`,
);
for (let n = 1; n <= 5; n += 1) await step(`request ${n} of the burst`, 200);
const refused = await step("request 6 of the burst", 429);
const seconds = Number(refused.headers.get("retry-after"));
console.log(
  `\n           ${await refused.text()}\n           waiting exactly ${seconds} s, as told\n`,
);
await sleep(seconds * 1000 + 1); // timers may fire within the millisecond before
await step("the same request again", 200);
await step("somebody else meanwhile", 200, "key-grace");

console.log(
  broken === 0 ? "\nEvery step was as promised." : `\n${broken} steps were not as promised.`,
);
process.exitCode = broken === 0 ? 0 : 1;
if (once) {
  server.close();
  await app.locals.limiter.close();
} else {
  console.log(`
Still serving; stop with Ctrl+C. To try:
  curl -i -H 'x-api-key: key-ada' ${url}/items
  curl -i -H 'x-api-key: key-ada' -X POST '${url}/items?count=3'
  curl -i -H 'content-type: application/json' -d '{"login":"ada"}' ${url}/login
  for i in 1 2 3 4 5 6; do curl -s -o /dev/null -w '%{http_code} %{time_total}s\\n' -H 'x-api-key: key-ada' -X POST ${url}/jobs & done; wait`);
}

/** Sends one request, prints it as a line of the timeline, and counts it when the answer is not the expected one. */
async function step(what, expected, key = "key-ada") {
  const response = await fetch(`${url}/items`, { headers: { "x-api-key": key } });
  const fields = ["limit", "remaining", "reset"].map(
    (name) => `${name} ${response.headers.get(`x-ratelimit-${name}`)}`,
  );
  const retryAfter = response.headers.get("retry-after");
  if (retryAfter !== null) fields.push(`retry-after ${retryAfter}`);
  const asPromised =
    response.status === expected && !fields.some((field) => field.endsWith("null"));
  if (!asPromised) broken += 1;
  const time = `${((performance.now() - startedAt) / 1000).toFixed(2)} s`.padStart(8);
  console.log(
    `${time}   ${what.padEnd(24)} ${response.status}  ${fields.join("  ")}${asPromised ? "" : `  (expected ${expected})`}`,
  );
  return response;
}
