-- Sliding window from two counters: weighs the previous window's count by the share of it that a trailing
-- window would still cover.
-- Policy: limit, window_ms.
-- State { index, current, previous }, kept as "c<window> <index> <current> <previous> <limit>".

local sliding_window_counter = {
  load = load_text,
}

local function instant_of(policy, state, now)
  if state == nil or state.current + state.previous == 0 then
    return now
  end
  return max(now, state.index * policy.window_ms)
end

local function count_of(state, index)
  if state == nil then
    return 0
  end
  if index == state.index then
    return state.current
  end
  return index == state.index - 1 and state.previous or 0
end

-- Until `room` = limit - cost covers the weighed counts: within this window, or else within the next one.
local function wait_for(room, window_ms, current, previous, rest_ms)
  if current <= room and previous > 0 then
    local wait_ms = ceil((previous * rest_ms - (room - current) * window_ms) / previous)
    if wait_ms < rest_ms then
      return wait_ms
    end
  end
  local into_next_ms = 0
  if current > 0 then
    into_next_ms = ceil((current * window_ms - room * window_ms) / current)
  end
  return rest_ms + max(0, into_next_ms)
end

function sliding_window_counter.capacity(policy)
  return policy.limit
end

function sliding_window_counter.create()
  return { index = 0, current = 0, previous = 0 }
end

function sliding_window_counter.state_of(index, current, previous)
  return { index = tonumber(index), current = tonumber(current), previous = tonumber(previous) }
end

function sliding_window_counter.keep(key, keeper, state, ttl_ms)
  keep_numbers(key, keeper, ttl_ms, state.index, state.current, state.previous)
end

function sliding_window_counter.measure(policy, state, now, cost)
  local limit, window_ms = policy.limit, policy.window_ms
  local instant = instant_of(policy, state, now)
  local index = floor(instant / window_ms)
  local current = count_of(state, index)
  local previous = count_of(state, index - 1)
  local rest_ms = window_ms - instant % window_ms
  local late_ms = instant - now

  local weighed = previous * rest_ms
  local allowed = cost == 0 or (cost <= limit and weighed <= (limit - current - cost) * window_ms)
  local retry_ms = 0
  if cost > limit then
    retry_ms = never
  elseif not allowed then
    retry_ms = late_ms + wait_for(limit - cost, window_ms, current, previous, rest_ms)
  end
  local reset_ms = 0
  if current > 0 then
    reset_ms = late_ms + window_ms + rest_ms
  elseif previous > 0 then
    reset_ms = late_ms + rest_ms
  end
  local remaining = max(0, limit - current - ceil(weighed / window_ms))
  return allowed, remaining, retry_ms, reset_ms, 0
end

function sliding_window_counter.spend(policy, state, now, cost)
  local at = instant_of(policy, state, now)
  local index = floor(at / policy.window_ms)
  local current = count_of(state, index)
  state.previous = count_of(state, index - 1)
  state.current = current + cost
  state.index = index
  return at, index
end

function sliding_window_counter.refund(policy, state, receipt, now)
  if receipt.mark == state.index then
    state.current = max(0, state.current - receipt.part)
  elseif receipt.mark == state.index - 1 then
    state.previous = max(0, state.previous - receipt.part)
  else
    return false
  end
  return true
end

function sliding_window_counter.expires_at(policy, state)
  local start_ms = state.index * policy.window_ms
  if state.current > 0 then
    return start_ms + 2 * policy.window_ms
  end
  return state.previous > 0 and start_ms + policy.window_ms or 0
end

return sliding_window_counter
