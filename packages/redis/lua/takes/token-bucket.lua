-- Token bucket, one charge: see run.lua and algorithms/token-bucket.lua.
return function(policy, now, cost, units, at_ms)
  local limit, window_ms, burst = policy.limit, policy.window_ms, policy.extra
  local at, owed = now, 0
  if units and units > 0 then
    at = max(now, at_ms)
    local elapsed_ms = at - at_ms
    owed = elapsed_ms < ceil(units / limit) and units - elapsed_ms * limit or 0
  end
  -- Where the cost is above the burst, the product could be inexact.
  local room = burst * window_ms - owed
  if cost > burst or cost * window_ms > room then
    return nil
  end
  owed, room = owed + cost * window_ms, room - cost * window_ms
  local reset_ms = at - now + ceil(owed / limit)
  return floor(room / window_ms), reset_ms, at, 0, owed, at
end
