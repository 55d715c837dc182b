-- Fixed window: counts in windows that do not overlap, [start, start + window_ms).
-- Policy: limit, window_ms, extra = 1 when the first request opens the window, 0 for the clock's grid.
-- State { start_ms, count }, kept as "f<window> <start> <count> <limit>".

local fixed_window = {
  load = load_text,
}

local function window_start(policy, now)
  if policy.extra == 1 then
    return now
  end
  return now - now % policy.window_ms
end

-- An instant before the window's start counts as the start, so only the end needs a look.
local function live_window(policy, state, now)
  if state == nil or state.count == 0 then
    return nil
  end
  if now < state.start_ms + policy.window_ms then
    return state
  end
  return nil
end

function fixed_window.capacity(policy)
  return policy.limit
end

function fixed_window.create()
  return { start_ms = 0, count = 0 }
end

function fixed_window.state_of(start_ms, count)
  return { start_ms = tonumber(start_ms), count = tonumber(count) }
end

function fixed_window.keep(key, keeper, state, ttl_ms)
  keep_numbers(key, keeper, ttl_ms, state.start_ms, state.count)
end

function fixed_window.measure(policy, state, now, cost)
  local limit, window_ms = policy.limit, policy.window_ms
  local live = live_window(policy, state, now)
  local used = live and live.count or 0
  local allowed = cost == 0 or used + cost <= limit
  local end_ms = (live and live.start_ms or window_start(policy, now)) + window_ms
  local retry_ms = 0
  if cost > limit then
    retry_ms = never
  elseif not allowed then
    retry_ms = end_ms - now
  end
  return allowed, max(0, limit - used), retry_ms, used > 0 and end_ms - now or 0, 0
end

function fixed_window.spend(policy, state, now, cost)
  if live_window(policy, state, now) == nil then
    state.start_ms = window_start(policy, now)
    state.count = 0
  end
  state.count = state.count + cost
  return max(now, state.start_ms), state.start_ms
end

function fixed_window.refund(policy, state, receipt, now)
  -- Any other window is over, and what was taken from it no longer counts.
  if state.start_ms ~= receipt.mark then
    return false
  end
  state.count = max(0, state.count - receipt.part)
  return true
end

function fixed_window.expires_at(policy, state)
  return state.count > 0 and state.start_ms + policy.window_ms or 0
end

return fixed_window
