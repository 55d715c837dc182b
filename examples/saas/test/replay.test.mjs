import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { replay } from "../replay-logins.mjs";

/** The same policy counted by hand: 5 failures in 15 minutes, 10 in an hour ban for one. */
function refusedByHand() {
  const file = new URL("../../traffic/logins.jsonl.gz", import.meta.url);
  const lines = gunzipSync(readFileSync(file)).toString().trim().split("\n");
  const attempts = lines.map((line) => JSON.parse(line));
  attempts.sort((a, b) => Date.parse(a.time) - Date.parse(b.time));
  const counts = new Map();
  return attempts.filter(({ time, ip, user, ok }) => {
    const now = Date.parse(time);
    const key = JSON.stringify([ip, user]);
    const count = counts.get(key) ?? { failures: [], strikes: [], bannedUntil: 0 };
    counts.set(key, count);
    // A window, like a run of strikes, begins with its first failure.
    if (count.failures.length > 0 && now >= count.failures[0] + 900_000) count.failures = [];
    if (count.strikes.length > 0 && now >= count.strikes[0] + 3_600_000) count.strikes = [];
    if (now < count.bannedUntil || count.failures.length >= 5) return true;
    if (ok) Object.assign(count, { failures: [], strikes: [] });
    else {
      count.failures.push(now);
      count.strikes.push(now);
      if (count.strikes.length === 10)
        Object.assign(count, { bannedUntil: now + 3_600_000, strikes: [] });
    }
    return false;
  });
}

test("the login policy refuses the attempts that a count by hand refuses", () => {
  const { attempts, refused } = replay();
  const pick = ({ time, ip, user, ok }) => ({ time, ip, user, ok });
  expect(attempts).toHaveLength(1_121);
  expect(refused.map(pick)).toEqual(refusedByHand().map(pick));
  expect(refused).toHaveLength(388);
});

test("exactly one success is refused: the one that looks like the break-in", () => {
  const { refused } = replay();
  expect(refused.filter(({ ok }) => ok)).toMatchObject([
    { time: "2015-03-30T16:01:36Z", user: "account-38", failures: 147 },
  ]);
});
