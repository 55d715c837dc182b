-- Token bucket, one charge: see run.lua and algorithms/token-bucket.lua.
return function(policy, now, cost, units, at_ms)
  local limit, window_ms, burst = policy.limit, policy.window_ms, policy.extra
  local owed = 0
  if units and units > 0 then
    local elapsed_ms = now - at_ms
    if elapsed_ms < 0 then
      return nil
    end
    owed = elapsed_ms < ceil(units / limit) and units - elapsed_ms * limit or 0
  end
  -- Where the cost is above the burst, the product could be inexact.
  local room = burst * window_ms - owed
  if cost > burst or cost * window_ms > room then
    return nil
  end
  owed, room = owed + cost * window_ms, room - cost * window_ms
  return floor(room / window_ms), ceil(owed / limit), owed, now
end
