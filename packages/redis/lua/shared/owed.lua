-- What a bucket is owed, and since when: state { units, at_ms }. One request costs window_ms units and `limit`
-- units come back each millisecond, so all of it stays an integer.

local owed = {}

-- The instant at which a call is decided: never before the state's own.
function owed.instant_of(state, now)
  if state == nil or state.units == 0 then
    return now
  end
  return max(now, state.at_ms)
end

-- Units still owed at an instant; elapsed time is cut to what is owed before it is multiplied.
function owed.at(state, limit, instant)
  if state == nil then
    return 0
  end
  local elapsed_ms = instant - state.at_ms
  if elapsed_ms >= ceil(state.units / limit) then
    return 0
  end
  return state.units - elapsed_ms * limit
end

function owed.create()
  return { units = 0, at_ms = 0 }
end

function owed.state_of(units, at_ms)
  return { units = tonumber(units), at_ms = tonumber(at_ms) }
end

function owed.keep(key, keeper, state, ttl_ms)
  keep_numbers(key, keeper, ttl_ms, state.units, state.at_ms)
end

function owed.expires_at(policy, state)
  if state.units == 0 then
    return 0
  end
  return state.at_ms + ceil(state.units / policy.limit)
end

return owed
