// Runs the login policy of policies.json over real login attempts, by the log's own clock: whom would it have
// refused, and which of those would have got in?
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { createLimiter } from "@headgate/core";
import { conclude } from "@headgate/core/policies";
import { ManualClock } from "@headgate/core/testing";
import { policies } from "./app.mjs";

const file = new URL("../traffic/logins.jsonl.gz", import.meta.url);
const attempts = gunzipSync(readFileSync(file))
  .toString()
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line))
  .map((attempt) => ({ ...attempt, at: Date.parse(attempt.time) }))
  .sort((a, b) => a.at - b.at);

/** The attempts that are refused, with the failures on the same account from the same address in 15 minutes before. */
export function replay() {
  const clock = new ManualClock(attempts[0].at);
  const limiter = createLimiter({ policies: { login: policies.login }, clock });
  const refused = [];
  for (const attempt of attempts) {
    clock.set(attempt.at);
    const { ip, user, ok } = attempt;
    const decision = limiter.check("login", { ip, account: user });
    if (decision.allowed) conclude(limiter, decision, ok ? "success" : "failure");
    else refused.push({ ...attempt, reason: decision.reason, failures: failuresBefore(attempt) });
  }
  return { attempts, refused };
}

function failuresBefore({ ip, user, at }) {
  const recent = attempts.filter((other) => other.at < at && other.at > at - 900_000);
  return recent.filter((other) => other.ip === ip && other.user === user && !other.ok).length;
}

if (import.meta.main ?? process.argv[1] === new URL(import.meta.url).pathname) {
  const { refused } = replay();
  const failed = attempts.filter(({ ok }) => !ok).length;
  const stopped = refused.filter(({ ok }) => !ok).length;
  console.log(`${attempts.length} attempts, ${failed} of them failures.`);
  console.log(
    `${refused.length} refused: ${stopped} failures, which is ${((100 * stopped) / failed).toFixed(1)} % of all.`,
  );
  for (const { time, ip, user, failures } of refused.filter(({ ok }) => ok))
    console.log(`A success refused: ${time}, ${user} from ${ip}, after ${failures} failures.`);
}
