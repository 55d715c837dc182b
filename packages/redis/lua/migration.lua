-- States that another policy of the name has written: another tier, other numbers, another version, window or
-- algorithm.

local migration = {}

-- The policy that a text was written under and the state; nil for a text that tells of none. Of a long log the
-- text may be the beginning.
function migration.held_in(key, stored)
  local tag, window_ms, version, at = match(stored, "^(%a)(%d+)v?(%d*) ()")
  local name = algorithm_names[tag]
  if not name then
    return nil
  end
  local algorithm = need(name)
  local held, state
  version = version == "" and "1" or version
  if tag == "w" then
    local head = match(stored, "^%w+ %d+\n")
    local limit = head and sub(head, at, -2)
    state = head and need("stamp-log").unpack(key, stored, head)
    held = state and policy_of(tag, limit, window_ms, "0", version)
  else
    local numbers = { match(stored, "^(%d+) (%d+) (%d+) ?(%d*)$", at) }
    local kept = tag == "c" and 3 or 2
    local limit, extra = numbers[kept + 1], algorithm.tells_extra and numbers[4] or "0"
    if limit and limit ~= "" and extra ~= "" then
      held = policy_of(tag, limit, window_ms, extra, version)
      state = algorithm.state_of(numbers[1], numbers[2], numbers[3])
    end
  end
  if held then
    held.version = tonumber(version)
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

-- How much larger the capacity could be.
local function spare(policy)
  local unit = policy.algorithm.tells_extra and policy.window_ms or 1
  return floor(largest / unit) - policy.algorithm.capacity(policy)
end

-- What a state may hold at most, so that a call on top of it is still exact.
local function most_used(policy)
  return policy.tag == "c" and floor(largest / policy.window_ms) or spare(policy)
end

-- An untouched state that some units have been charged to.
local function filled(key, policy, units)
  local algorithm = policy.algorithm
  if algorithm.filled then
    return algorithm.filled(key, policy, now_ms, units)
  end
  local state = algorithm.create(key, policy)
  algorithm.spend(policy, state, now_ms, units)
  return state
end

-- The state that a policy goes on with where it finds one of another form; nil for an untouched one. The declared
-- rule is for states of a lower version; any other difference is bridged by "k", keep.
local function migrated(key, policy, held, state)
  local from, to = held.algorithm, policy.algorithm
  local rule = held.version < policy.version and policy.migrate or "k"
  if rule == "r" then
    return nil
  end
  local queue = from == to and policy.tag == "l"
  local kept = from == to and held.window_ms == policy.window_ms and rule == "k"
  if kept and not (queue and held.limit ~= policy.limit) then
    return state
  end
  if queue then
    -- The next free slot keeps its instant.
    local _, _, _, reset_ms = from.measure(held, state, now_ms, 0)
    local units = min(reset_ms * policy.limit, most_used(policy) * policy.window_ms)
    return { units = units, at_ms = now_ms }
  end
  -- More than the old capacity where a larger one has been used: it must not come back with each version's turn.
  local roomy = enlarged(held, spare(held))
  local _, remaining = from.measure(roomy, state, now_ms, 0)
  local used = from.capacity(roomy) - remaining
  local units = rule == "s" and scaled(used, to.capacity(policy), from.capacity(held)) or used
  return units > 0 and filled(key, policy, min(units, most_used(policy))) or nil
end

-- A policy under a version that is no lower than the one found: versions in states never go down.
local function at_least(policy, version)
  if policy.version >= version then
    return policy
  end
  local limit, window_ms = text_of(policy.limit), text_of(policy.window_ms)
  return policy_of(policy.tag, limit, window_ms, text_of(policy.extra), text_of(version))
end

-- What a charge finds in a text of another policy. Of a converted state it is noted what it is carried over to, so
-- that it is left so: later calls must go on from there, or the waits that were promised would move.
function migration.carry_over(charge, stored)
  local policy = charge.policy
  local held, state = migration.held_in(charge.key, stored)
  if not held or held.algorithm.expires_at(held, state) <= now_ms then
    return nil
  end
  if held.form == policy.form then
    return state
  end
  state = migrated(charge.key, policy, held, state)
  if state then
    charge.carried = at_least(policy, held.version)
  end
  return state
end

return migration
