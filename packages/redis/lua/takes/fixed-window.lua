-- Fixed window, one charge: see run.lua and algorithms/fixed-window.lua.
return function(policy, now, cost, start_ms, count)
  local limit, window_ms = policy.limit, policy.window_ms
  if not start_ms or count == 0 or now >= start_ms + window_ms then
    start_ms, count = policy.extra == 1 and now or now - now % window_ms, 0
  end
  local used = count + cost
  if used > limit or now < start_ms then
    return nil
  end
  return limit - used, start_ms + window_ms - now, start_ms, used
end
