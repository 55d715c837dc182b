import { readFileSync } from "node:fs";
import { type ChargeReceipt, type Clock, definePolicy, memoryStore } from "@headgate/core";
import { ManualClock, SteppingClock } from "@headgate/core/testing";
import { expect, test } from "vitest";
import { joinedScript } from "../../scripts/build-lua.mjs";
import { type Executor, type RedisStore, redisStore } from "../../src/index.js";
import { freshPrefix, patientMs, useSingleServer } from "../servers/single.js";
import { type Deal, Differential, plainPolicies, policyFamilies } from "./differential.js";
import { SeededRandom } from "./random.js";

const redis = useSingleServer();
const mostBatches = 12_000;

/** A fault: the part of the script, what stands there, and what the fault makes of it. */
type Fault = readonly [part: string, text: string, faulty: string];

const fixed = "algorithms/fixed-window.lua";
const log = "algorithms/sliding-window.lua";
const stamps = "shared/stamp-log.lua";
const counter = "algorithms/sliding-window-counter.lua";
const token = "algorithms/token-bucket.lua";
const leaky = "algorithms/leaky-bucket.lua";
const owed = "shared/owed.lua";
const run = "run.lua";
const takeFixed = "takes/fixed-window.lua";
const takeCounter = "takes/sliding-window-counter.lua";
const takeToken = "takes/token-bucket.lua";

const faults: readonly Fault[] = [
  [fixed, "policy.extra == 1", "policy.extra == 0"],
  [fixed, "now - now % policy.window_ms", "now"],
  [fixed, "now < state.start_ms + policy.window_ms", "now <= state.start_ms + policy.window_ms"],
  [fixed, "used + cost <= limit", "used + cost < limit"],
  [fixed, "+ window_ms\n  local retry_ms", "+ window_ms + 1\n  local retry_ms"],
  [fixed, "cost > limit", "cost > limit + 1"],
  [fixed, "retry_ms = end_ms - now", "retry_ms = end_ms - now - 1"],
  [fixed, "max(0, limit - used)", "max(1, limit - used)"],
  [fixed, "used > 0 and end_ms - now or 0", "end_ms - now"],
  [fixed, "state.count = state.count + cost", "state.count = state.count + 1"],
  [fixed, "return max(now, state.start_ms), state.start_ms", "return now, state.start_ms"],
  [fixed, "state.start_ms ~= receipt.mark", "false"],
  [fixed, "max(0, state.count - receipt.part)", "state.count - receipt.part - 1"],
  [log, "max(now, log.newest) or now", "max(now, log.newest) + 1 or now"],
  [log, "stamp_log.units_after(log, instant - window_ms)", "stamp_log.units(log)"],
  [log, "used + cost - limit", "used + cost - limit + 1"],
  [log, "cost > limit", "cost > limit + 1"],
  [log, "stamp_log.units(log) - used + excess", "excess"],
  [log, "unit) + window_ms - now", "unit) + window_ms - now + 1"],
  [log, "max(0, limit - used)", "max(1, limit - used)"],
  [log, "used > 0 and log.newest", "log and log.newest"],
  [log, "local at = max(now, log.newest)", "local at = now"],
  [log, "at - policy.window_ms", "at - policy.window_ms + 1"],
  [log, "receipt.at <= instant - policy.window_ms", "true"],
  [
    stamps,
    "is_after(log, index, instant)\n  return stamp_at(log, index) > instant",
    "is_after(log, index, instant)\n  return stamp_at(log, index) >= instant",
  ],
  [stamps, "units_through(log, index) >= units", "units_through(log, index) > units"],
  [stamps, "min(units, held)", "held"],
  [stamps, "taken == held and 1 or 0", "0"],
  [stamps, "log.stamp_width, log.total_width) - taken", "log.stamp_width, log.total_width)"],
  [counter, "max(now, state.index * policy.window_ms)", "now"],
  [counter, "index == state.index - 1 and state.previous or 0", "0"],
  [counter, "current <= room and", "current <= room - 2 and"],
  [counter, "(room - current) * window_ms) / previous", "room * window_ms) / previous"],
  [counter, "wait_ms < rest_ms", "wait_ms < rest_ms - 1"],
  [
    counter,
    "(current * window_ms - room * window_ms) / current",
    "(current * window_ms - room) / current",
  ],
  [counter, "rest_ms + max(0, into_next_ms)", "rest_ms + into_next_ms"],
  [counter, "instant % window_ms\n", "now % window_ms\n"],
  [counter, "weighed <= (limit", "weighed < (limit"],
  [counter, "late_ms + wait_for", "wait_for"],
  [counter, "reset_ms = late_ms + window_ms + rest_ms", "reset_ms = late_ms + rest_ms"],
  [counter, "ceil(weighed / window_ms)", "floor(weighed / window_ms)"],
  [counter, "state.previous = count_of(state, index - 1)", "state.previous = 0"],
  [counter, "max(0, state.previous - receipt.part)", "state.previous"],
  [token, "units + cost * window_ms - full", "units + cost * window_ms - full + 1"],
  [token, "floor((full - units) / window_ms)", "ceil((full - units) / window_ms)"],
  [token, "late_ms + ceil(excess / limit)", "late_ms + floor(excess / limit)"],
  [token, "units > 0 and late_ms + ceil(units / limit)", "units > 0 and ceil(units / limit)"],
  [token, "+ cost * policy.window_ms\n", "+ cost * policy.window_ms + 1\n"],
  [token, "receipt.at >= refill_ms", "receipt.at > refill_ms"],
  [token, "max(0, state.units - receipt.part * policy.window_ms)", "state.units"],
  [owed, "max(now, state.at_ms)", "now"],
  [owed, "elapsed_ms >= ceil(state.units / limit)", "elapsed_ms > ceil(state.units / limit)"],
  [owed, "state.units - elapsed_ms * limit", "state.units - elapsed_ms"],
  [leaky, "units + (cost - 1) * window_ms - longest", "units + cost * window_ms - longest"],
  [leaky, "cost > queue + 1", "cost > queue"],
  [leaky, "ceil(units / limit)\n", "floor(units / limit)\n"],
  [leaky, "/ window_ms) + 1)", "/ window_ms))"],
  [leaky, "late_ms + ceil(excess / limit)", "ceil(excess / limit)"],
  [leaky, "return at, state.units", "return at, 0"],
  [leaky, "(allowed and cost > 0) and slot_ms or 0", "slot_ms"],
  [leaky, "receipt.mark - receipt.cost * policy.window_ms", "receipt.mark"],
  [leaky, "now) <= departure_ms", "now) < departure_ms"],
  [leaky, "if undisturbed and", "if"],
  [
    "decide.lua",
    "admitted = look(charges[place], want_next) and admitted",
    "admitted = look(charges[place], want_next)",
  ],
  ["decide.lua", 'if mode ~= "p" then', "if true then"],
  ["decide.lua", "remaining + 1)", "remaining)"],
  [run, "#lines + 1] = commit", "1] = commit"],
  [run, "keys_read = keys_read + width", "keys_read = keys_read + 1"],
  [run, "charged[place] =", "charged[1] ="],
  ["commits/batch.lua", "KEYS[before + place]", "KEYS[1]"],
  ["commits/batch.lua", "cost = charge.cost", "cost = 1"],
  ["commits/several.lua", "taken(KEYS[before + place]", "taken(KEYS[before + 1]"],
  ["commits/several.lua", "keep_numbers(KEYS[before + place]", "keep_numbers(KEYS[before + 1]"],
  ["commits/several.lua", ', " ", 1, #charged', ', " "'],
  ["commits/log.lua", "log and log.newest > now_ms", "false"],
  [takeFixed, "now >= start_ms + window_ms", "now > start_ms + window_ms"],
  [takeFixed, "policy.extra == 1", "policy.extra == 0"],
  [takeFixed, "or now < start_ms", ""],
  [takeToken, "elapsed_ms < 0", "false"],
  [takeToken, "units - elapsed_ms * limit or 0", "units - elapsed_ms * limit or 1"],
  [takeToken, "ceil(owed / limit), owed", "floor(owed / limit), owed"],
  [takeToken, "floor(room / window_ms)", "ceil(room / window_ms)"],
  [takeCounter, "index < stored_index", "false"],
  [takeCounter, "index - 1 == stored_index and current or 0", "0"],
  [takeCounter, "window_ms + rest_ms, index", "window_ms, index"],
  [takeCounter, "ceil(weighed / window_ms)", "floor(weighed / window_ms)"],
];

const migration = "migration.lua";
const bans = "bans.lua";
const decide = "decide.lua";
const changes = "changes.lua";

/** Faults that only policies show which share a name, have a penalty or debt, or are shadows. */
const faultsOfFamilies: readonly Fault[] = [
  ["shared/keys.lua", "return nil, stored", "return nil"],
  [fixed, "state.count - receipt.part", "state.count - receipt.cost"],
  [log, "receipt.at, receipt.part", "receipt.at, receipt.cost"],
  [counter, "state.current - receipt.part", "state.current - receipt.cost"],
  [token, "units - receipt.part * policy", "units - receipt.cost * policy"],
  [leaky, "receipt.mark - receipt.part * policy.window_ms", "before"],
  [stamps, "width_for(units + 1)", "1"],
  [stamps, 'call("SET", log.key, log.read)\n    log.unwritten', "log.unwritten"],
  [stamps, "log.head ~= keeper.head", "false"],
  [stamps, 'text_of(offset_of(log, 0)), "-1"', '"0", "-1"'],
  ["terms.lua", 'tag .. window .. "v" .. version', "tag .. window"],
  ["policies.lua", "m = 60000", "m = 60"],
  ["terms.lua", '" " .. limit .. " " .. extra or', '" " .. limit .. " 0" or'],
  ["policies.lua", "made[larger] + units", "made[larger]"],
  [migration, 'tag == "c" and 3 or 2', "2"],
  [migration, "(%d+[dhms]?)v?", "(%d+)[dhms]?v?"],
  [migration, 'version == "" and "1" or version', '"1"'],
  [migration, "floor(to / bit) % 2 == 1", "floor(to / bit) == 1"],
  [migration, "rest > 0 and quotient + 1 or quotient", "quotient"],
  [migration, "floor(largest / policy.window_ms)", "floor(largest)"],
  [migration, 'policy.tag == "c" and floor', "false and floor"],
  [
    migration,
    "highest < policy.version and policy.migrate",
    "highest ~= policy.version and policy.migrate",
  ],
  [migration, 'if rule == "r" then', "if false then"],
  [migration, 'held.window_ms == policy.window_ms and rule == "k"', 'rule == "k"'],
  [migration, 'and rule == "k"\n', "\n"],
  [migration, "queue and held.limit ~= policy.limit", "queue"],
  [migration, "not (queue and held.limit ~= policy.limit)", "true"],
  [migration, "reset_ms * policy.limit", "reset_ms * held.limit"],
  [migration, 'rule == "s" and scaled', 'rule == "x" and scaled'],
  [migration, "from.capacity(held)) or", "to.capacity(policy)) or"],
  [migration, "enlarged(held, spare(held))", "held"],
  [migration, "min(units, most_used(policy)), at) or nil", "units, at) or nil"],
  [migration, "numbers_end and numbers_end - 1", "-1"],
  [migration, "if highest then", "if false then"],
  [migration, "max(highest, policy.version), until_ms", "highest, until_ms"],
  [migration, 'made.head = sub(made.head, 1, -2) .. told .. "\\n"', ""],
  [migration, "highest > policy.version or", ""],
  [migration, "or until_ms > now_ms then", "then"],
  [migration, "max(ends_at, until_ms) > now_ms", "true"],
  [migration, "max(ends_at, until_ms) > now_ms", "ends_at > now_ms"],
  [migration, "(held.highest or held.version)", "held.version"],
  [migration, 'rule == "k" and until_ms or max(until_ms, ends_at)', "until_ms"],
  [migration, "if ends_at <= now_ms then", "if false then"],
  [migration, "held.form == policy.form", "held.tag == policy.tag"],
  [migration, "charge.carried = state ~= nil", ""],
  [migration, "max(now_ms, held_instant(held, state))", "now_ms"],
  [migration, "state.index * held.window_ms", "0"],
  [bans, "strikes.count > 0 and strikes.start_ms", "false and strikes.start_ms"],
  [bans, "max(0, strikes.until_ms - now_ms)\nend", "max(0, strikes.until_ms - now_ms - 1)\nend"],
  [bans, "if charge.ban_ms > 0 then", "if false then"],
  [bans, "now_ms >= strikes.start_ms", "now_ms > strikes.start_ms"],
  [bans, "strikes.start_ms, strikes.count = now_ms, 0", "strikes.count = 0"],
  [bans, "strikes.count >= policy.after", "strikes.count > policy.after"],
  [bans, "now_ms + policy.ban_ms), 0", "now_ms + policy.ban_ms), strikes.count"],
  [bans, "charge.ban_ms = max(0, strikes.until_ms - now_ms)\n", ""],
  [bans, "charge.remaining > 0 and ban_ms or", ""],
  [
    bans,
    "charge.remaining, charge.reset_ms = 0,",
    "charge.remaining, charge.reset_ms = charge.remaining,",
  ],
  [bans, "max(charge.reset_ms, ban_ms)", "charge.reset_ms"],
  [bans, "charge.delay_ms = 0", ""],
  [bans, "charge.cost > 0 and now_ms + charge.cost or 0", "now_ms + charge.cost + 1"],
  [decide, "charge.ban_ms > 0 and charge.cost > 0", "charge.ban_ms > 0"],
  [decide, "allowed or policy.shadow", "allowed"],
  [decide, '(admitted and mode == "c")', "true"],
  [decide, 'policy.on == "r"', "true"],
  [decide, "if admitted and charge.allowed and", "if admitted and"],
  [decide, "max(charge.retry_ms, charge.ban_ms)", "charge.retry_ms"],
  [changes, "min(asked, room)", "asked"],
  [changes, "charge.cost == asked", "true"],
  [changes, "charge.retry_ms, charge.delay_ms = 0, 0", "charge.delay_ms = 0"],
  [changes, "or keeper.window_ms ~= policy.window_ms", ""],
  [changes, "refund(keeper, state", "refund(receipt.policy, state"],
  [changes, "keep(receipt.key, keeper,", "keep(receipt.key, receipt.policy,"],
  [changes, "highest == 1 or", "true or"],
  [changes, "keeper and ends_at(keeper, state)", "now_ms + 1"],
  [decide, "keeper.until_ms or 0", "0"],
  [changes, "if batch.capital then", "if true then"],
  [changes, 'call("DEL", charge.ban_key)', ""],
  ["batches.lua", "batch.capital and next_number() or charge.cost", "charge.cost"],
];

const played = [
  ...faults.map((fault) => [fault, plainPolicies] as const),
  ...faultsOfFamilies.map((fault) => [fault, policyFamilies] as const),
];

for (const [[part, text, faulty], deal] of played) {
  test(`catches ${part}: ${text.trim()} turned into ${faulty.trim()}`, async () => {
    const executor = over(faultyScript(part, text, faulty));
    const open = (clock: Clock): RedisStore =>
      redisStore(executor, {
        prefix: freshPrefix(),
        clock,
        denyCache: false,
        callTimeoutMs: patientMs,
      });
    await expect(play(open, deal)).rejects.toThrow();
  });
}

/** Random batches, after edges that they seldom meet. */
async function play(open: (clock: Clock) => RedisStore, deal: Deal): Promise<void> {
  await refundAsEverythingHasComeBack(open);
  await refundToWhatHasExpired(open);
  await chargeAfterTheClockSteppedBack(open);
  await chargeInWindowsOfEveryUnit(open);
  const differential = new Differential(new SeededRandom(7), open, deal);
  while (differential.batches < mostBatches) await differential.turn();
}

async function refundAsEverythingHasComeBack(open: (clock: Clock) => RedisStore): Promise<void> {
  const clock = new ManualClock(1_000);
  const policy = definePolicy("late", { algorithm: "token-bucket", limit: 1, windowMs: 10 });
  const store = open(clock);
  const charge = { policy, subject: "user=1", cost: 1 };
  const [first] = await store.apply([charge], "commit");
  clock.advance(10);
  await store.apply([charge], "commit");
  await store.refund([first?.receipt as ChargeReceipt]);
  expect((await store.apply([charge], "peek"))[0]?.allowed).toBe(false);
}

async function refundToWhatHasExpired(open: (clock: Clock) => RedisStore): Promise<void> {
  const clock = new ManualClock(1_000);
  const rule = { algorithm: "token-bucket", windowMs: 1_000 } as const;
  const slow = definePolicy("tiers", { ...rule, limit: 1 });
  const fast = definePolicy("tiers", { ...rule, limit: 100 });
  const store = open(clock);
  const [first] = await store.apply([{ policy: slow, subject: "user=1", cost: 1 }], "commit");
  await store.apply([{ policy: fast, subject: "user=1", cost: 1 }], "commit");
  clock.advance(20);
  await store.refund([first?.receipt as ChargeReceipt]);
  const [seen] = await store.apply([{ policy: fast, subject: "user=1", cost: 0 }], "peek");
  expect(seen?.remaining).toBe(100);
}

async function chargeAfterTheClockSteppedBack(open: (clock: Clock) => RedisStore): Promise<void> {
  const clock = new SteppingClock(1_000);
  const store = open(clock);
  const memory = memoryStore({ clock });
  for (const algorithm of ["fixed-window", "sliding-window-counter", "token-bucket"] as const) {
    const policy = definePolicy(algorithm, { algorithm, limit: 5, windowMs: 100 });
    for (const instant of [1_000, 990]) {
      clock.set(instant);
      const batch = [{ policy, subject: "user=1", cost: 1 }];
      expect(await store.apply(batch, "commit")).toStrictEqual(memory.apply(batch, "commit"));
    }
  }
}

async function chargeInWindowsOfEveryUnit(open: (clock: Clock) => RedisStore): Promise<void> {
  const clock = new ManualClock(1_728_000_000_000);
  const store = open(clock);
  for (const windowMs of [1_500, 90_000, 300_000, 7_200_000, 172_800_000]) {
    const rule = { algorithm: "fixed-window", anchor: "first-request", windowMs } as const;
    const policy = definePolicy("unit", { ...rule, limit: 1 });
    const larger = definePolicy("unit", { ...rule, limit: 2 });
    const subject = `user=${windowMs}`;
    const ask = async (asked = policy): Promise<number | undefined> =>
      (await store.apply([{ policy: asked, subject, cost: 1 }], "commit"))[0]?.remaining;
    expect(await ask()).toBe(0);
    clock.advance(windowMs - 1);
    expect(await store.apply([{ policy, subject, cost: 1 }], "peek")).toMatchObject([
      { allowed: false, retryMs: 1 },
    ]);
    expect(await ask(larger)).toBe(0);
    clock.advance(1);
    expect(await ask(larger)).toBe(1);
  }
}

/** Runs a script of the test's own in place of the store's. */
function over(script: string): Executor {
  return {
    slotOf: undefined,
    ready: () => undefined,
    run: ({ keys, args }) => redis.client.eval(script, keys.length, ...keys, ...args),
    close: async () => undefined,
  };
}

function faultyScript(part: string, text: string, faulty: string): string {
  return joinedScript((name: string) => {
    const source = readFileSync(new URL(`../../lua/${name}`, import.meta.url), "utf8");
    if (name !== part) return source;
    if (source.split(text).length !== 2) throw new Error(`${part} must hold "${text}" once`);
    return source.replace(text, () => faulty);
  });
}
