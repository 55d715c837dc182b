-- Sliding window from two counters, one charge: see run.lua and algorithms/sliding-window-counter.lua.
return function(policy, now, cost, stored_index, current, previous)
  local limit, window_ms = policy.limit, policy.window_ms
  local at = now
  if stored_index and current + previous > 0 then
    at = max(now, stored_index * window_ms)
  end
  local index = floor(at / window_ms)
  if index ~= stored_index then
    current, previous = 0, index - 1 == stored_index and current or 0
  end
  local rest_ms, used = window_ms - at % window_ms, current + cost
  local weighed = previous * rest_ms
  if used > limit or weighed > (limit - used) * window_ms then
    return nil
  end
  local reset_ms = at - now + window_ms + rest_ms
  return limit - used - ceil(weighed / window_ms), reset_ms, at, index, index, used, previous
end
