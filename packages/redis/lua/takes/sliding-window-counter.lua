-- Sliding window from two counters, one charge: see run.lua and algorithms/sliding-window-counter.lua.
return function(policy, now, cost, stored_index, current, previous)
  local limit, window_ms = policy.limit, policy.window_ms
  local index = floor(now / window_ms)
  if not stored_index or current + previous == 0 then
    current, previous = 0, 0
  elseif index < stored_index then
    return nil
  elseif index > stored_index then
    current, previous = 0, index - 1 == stored_index and current or 0
  end
  local rest_ms, used = window_ms - now % window_ms, current + cost
  local weighed = previous * rest_ms
  if used > limit or weighed > (limit - used) * window_ms then
    return nil
  end
  return limit - used - ceil(weighed / window_ms), window_ms + rest_ms, index, used, previous
end
