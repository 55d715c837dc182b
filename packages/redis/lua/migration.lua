-- States that another policy of the name has written: another tier, other numbers, another version, window or
-- algorithm.

local migration = {}

-- A policy for states to be kept under that remember, beside what they count, the highest version that has written
-- them, and until when they are kept even though they may count nothing any more. Both stand at the end of the form:
-- "f1m 1700000000000 3 5 ^2 1700000060000".
local function remembering(policy, highest, until_ms)
  local limit, extra, version = text_of(policy.limit), text_of(policy.extra), text_of(policy.version)
  local made = policy_of(policy.tag, limit, policy.window, extra, version)
  made.highest, made.until_ms = max(highest, policy.version), until_ms
  local told = format(" ^%.0f %.0f", made.highest, until_ms)
  if made.head then
    made.head = sub(made.head, 1, -2) .. told .. "\n"
  else
    made.layout = made.layout .. told
  end
  return made
end

-- What a policy keeps a state under: itself, unless there is something to remember. The highest version never goes
-- down, or each of its turns would be the first one again.
function migration.kept_under(policy, highest, until_ms)
  if highest > policy.version or until_ms > now_ms then
    return remembering(policy, highest, until_ms)
  end
  return policy
end

-- The policy that a text was written under and the state; nil for a text that tells of none. Of a long log the
-- text may be the beginning.
function migration.held_in(key, stored)
  local tag, window, version, at = match(stored, "^(%a)(%d+[dhms]?)v?(%d*) ()")
  local name = algorithm_names[tag]
  if not name then
    return nil
  end
  local algorithm = need(name)
  version = version == "" and "1" or version
  local line = tag == "w" and match(stored, "^([%w ^]+)\n") or stored
  local numbers_end, highest, until_ms = match(line, "() ^(%d+) (%d+)$", at)
  local told = sub(line, at, numbers_end and numbers_end - 1)
  local limit, extra, state = told, "0", nil
  if tag == "w" then
    state = match(told, "^%d+$") and need("stamp-log").unpack(key, stored, line .. "\n")
  else
    local numbers = { match(told, "^(%d+) (%d+) (%d+) ?(%d*)$") }
    local kept = tag == "c" and 3 or 2
    limit, extra = numbers[kept + 1], algorithm.tells_extra and numbers[4] or "0"
    if limit and limit ~= "" and extra ~= "" then
      state = algorithm.state_of(numbers[1], numbers[2], numbers[3])
    end
  end
  if not state then
    return nil
  end
  local held = policy_of(tag, limit, window, extra, version)
  if highest then
    held = remembering(held, tonumber(highest), tonumber(until_ms))
  end
  return held, state
end

-- ceil(used * to / from), exactly where the product would not be: the part below `from` bit by bit.
local function scaled(used, to, from)
  local part, whole = used % from, floor(used / from) * to
  local quotient, rest = 0, 0
  local bit = 2 ^ 52
  while bit >= 1 do
    quotient, rest = quotient * 2, rest * 2
    if rest >= from then
      quotient, rest = quotient + 1, rest - from
    end
    if floor(to / bit) % 2 == 1 then
      rest = rest + part
      if rest >= from then
        quotient, rest = quotient + 1, rest - from
      end
    end
    bit = bit / 2
  end
  return whole + (rest > 0 and quotient + 1 or quotient)
end

local largest = 2 ^ 53 - 1

-- Kept free below the largest integer, 278 years of ms: an earlier clock makes waits longer, and some clients misread
-- the last integers.
local margin = 2 ^ 43

-- How much larger the capacity could be.
local function spare(policy)
  local unit = policy.algorithm.tells_extra and policy.window_ms or 1
  return floor((largest - max(policy.algorithm.capacity(policy) * unit, margin)) / unit)
end

-- What a state may hold at most, so that a call on top of it is still exact.
local function most_used(policy)
  return policy.tag == "c" and floor(largest / policy.window_ms) or spare(policy)
end

-- An untouched state that some units have been charged to.
local function filled(key, policy, units, at)
  local algorithm = policy.algorithm
  if algorithm.filled then
    return algorithm.filled(key, policy, at, units)
  end
  local state = algorithm.create(key, policy)
  algorithm.spend(policy, state, at, units)
  return state
end

-- The instant before which a live state cannot be asked.
local function held_instant(held, state)
  if held.tag == "c" then
    return state.index * held.window_ms
  end
  return state.start_ms or state.newest or state.at_ms
end

-- The state that a policy goes on with where it finds a live one of another form; nil for an untouched one.
local function migrated(key, policy, held, state, rule)
  local from, to = held.algorithm, policy.algorithm
  if rule == "r" then
    return nil
  end
  local queue = from == to and policy.tag == "l"
  local kept = from == to and held.window_ms == policy.window_ms and rule == "k"
  if kept and not (queue and held.limit ~= policy.limit) then
    return state
  end
  -- An earlier clock is taken for the instant that the state holds, or it would be granted more later.
  local at = max(now_ms, held_instant(held, state))
  if queue then
    -- The next free slot keeps its instant.
    local _, _, _, reset_ms = from.measure(held, state, at, 0)
    local units = min(reset_ms * policy.limit, most_used(policy) * policy.window_ms)
    return { units = units, at_ms = at }
  end
  -- More than the old capacity where a larger one has been used: it must not come back with each version's turn.
  local roomy = enlarged(held, spare(held))
  local _, remaining = from.measure(roomy, state, at, 0)
  local used = from.capacity(roomy) - remaining
  local units = rule == "s" and scaled(used, to.capacity(policy), from.capacity(held)) or used
  return units > 0 and filled(key, policy, min(units, most_used(policy)), at) or nil
end

-- What a charge finds in a text of another policy, and notes what its state is to be kept under. A converted state
-- is `carried` over, so that it is left so: later calls must go on from there, or the waits that were promised would
-- move. The declared rule is for states that no such version has written yet; any other difference is bridged by "k",
-- keep.
function migration.carry_over(charge, stored)
  local policy = charge.policy
  local held, state = migration.held_in(charge.key, stored)
  if not held then
    return nil
  end
  local ends_at, until_ms = held.algorithm.expires_at(held, state), held.until_ms or 0
  local highest = max(ends_at, until_ms) > now_ms and (held.highest or held.version) or policy.version
  local rule = highest < policy.version and policy.migrate or "k"
  -- What a rule forgives would have counted until then, and no more may be forgiven before.
  until_ms = rule == "k" and until_ms or max(until_ms, ends_at)
  charge.keeper = migration.kept_under(policy, highest, until_ms)
  if ends_at <= now_ms then
    return nil
  end
  if held.form == policy.form then
    return state
  end
  state = migrated(charge.key, policy, held, state, rule)
  charge.carried = state ~= nil
  return state
end

return migration
