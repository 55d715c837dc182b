-- Bans of policies with a penalty, in a key beside that of the state: "b<start> <count> <until>", the strikes of a
-- window that the first of them opened, and the end of the ban that they led to. Behind them stands the subject
-- where the key does not show it.

local bans = {}

local function strikes_in(stored)
  local start_ms, count, until_ms = match(stored or "", "^b(%d+) (%d+) (%d+)")
  return { start_ms = tonumber(start_ms) or 0, count = tonumber(count) or 0, until_ms = tonumber(until_ms) or 0 }
end

local function keep_strikes(charge, strikes)
  local window_end_ms = strikes.count > 0 and strikes.start_ms + charge.policy.within_ms or 0
  local expires_at = max(strikes.until_ms, window_end_ms)
  if expires_at <= now_ms then
    call("DEL", charge.ban_key)
    return
  end
  local numbers = format("b%.0f %.0f %.0f", strikes.start_ms, strikes.count, strikes.until_ms)
  local stored = charge.told == "" and numbers or numbers .. " " .. charge.told
  call("SET", charge.ban_key, stored, "PX", text_of(ttl_until(expires_at)))
end

-- Notes until when the subject of a charge is banned.
function bans.load(charge)
  local strikes = strikes_in(call("GET", charge.ban_key))
  charge.strikes, charge.ban_ms = strikes, max(0, strikes.until_ms - now_ms)
end

-- Counts one towards the penalty. Who is banned is not counted: refusals must not make a ban longer.
function bans.strike(charge)
  if charge.ban_ms > 0 then
    return
  end
  local policy, strikes = charge.policy, charge.strikes
  if strikes.count == 0 or now_ms >= strikes.start_ms + policy.within_ms then
    strikes.start_ms, strikes.count = now_ms, 0
  end
  strikes.count = strikes.count + 1
  if strikes.count >= policy.after then
    strikes.until_ms, strikes.count = max(strikes.until_ms, now_ms + policy.ban_ms), 0
  end
  charge.ban_ms = max(0, strikes.until_ms - now_ms)
  keep_strikes(charge, strikes)
end

-- Makes of what a charge met what it meets under a ban: nothing that costs is admitted before that ends.
function bans.tell(charge)
  local ban_ms = charge.ban_ms
  if ban_ms == 0 then
    return
  end
  if charge.next_ms >= 0 then
    charge.next_ms = charge.remaining > 0 and ban_ms or max(charge.next_ms, ban_ms)
  end
  charge.remaining, charge.reset_ms = 0, max(charge.reset_ms, ban_ms)
  charge.delay_ms = 0
end

-- Mode "k": a strike for each charge.
function bans.k(batch)
  for place = 1, batch.size do
    bans.load(batch.charges[place])
  end
  for place = 1, batch.size do
    bans.strike(batch.charges[place])
  end
  return {}
end

-- Mode "b": bans each subject from now on for the cost in ms; 0 lifts a ban.
function bans.b(batch)
  for place = 1, batch.size do
    local charge = batch.charges[place]
    local until_ms = charge.cost > 0 and now_ms + charge.cost or 0
    keep_strikes(charge, { start_ms = 0, count = 0, until_ms = until_ms })
  end
  return {}
end

-- Mode "e": when bans end, 0 where there is none, and the subjects that the keys do not show, nothing for the others.
-- The tilde before them keeps clients from reading one as JSON.
function bans.e(batch)
  local reply = {}
  for place = 1, batch.size do
    local stored = redis.pcall("GET", batch.charges[place].ban_key)
    stored = type(stored) == "string" and stored or ""
    local size = #reply
    reply[size + 1] = max(0, strikes_in(stored).until_ms - now_ms)
    reply[size + 2] = "~" .. (match(stored, "^b%d+ %d+ %d+ (.*)$") or "")
  end
  return reply
end

return bans
