-- Sliding window, exact: remembers the instant of each admitted unit; a stamp counts while it is strictly newer
-- than now - window_ms.
-- Policy: limit, window_ms.
-- State: a stamp log, which writes itself.

local stamp_log = need("stamp-log")

local sliding_window = {
  create = stamp_log.create,
  filled = stamp_log.filled,
  load = stamp_log.load,
  unpack = stamp_log.unpack,
}

function sliding_window.capacity(policy)
  return policy.limit
end

function sliding_window.keep(key, keeper, log, ttl_ms)
  stamp_log.write_under(log, keeper)
  call("PEXPIRE", key, text_of(ttl_ms))
end

function sliding_window.measure(policy, log, now, cost)
  local limit, window_ms = policy.limit, policy.window_ms
  local instant = log and max(now, log.newest) or now
  local used = log and stamp_log.units_after(log, instant - window_ms) or 0
  local excess = used + cost - limit
  local allowed = cost == 0 or excess <= 0
  local retry_ms = 0
  if cost > limit then
    retry_ms = never
  elseif not allowed then
    -- The wait ends when as many units have expired as are too many now.
    local unit = stamp_log.units(log) - used + excess
    retry_ms = stamp_log.stamp_of_unit(log, unit) + window_ms - now
  end
  local reset_ms = used > 0 and log.newest + window_ms - now or 0
  return allowed, max(0, limit - used), retry_ms, reset_ms, 0
end

function sliding_window.spend(policy, log, now, cost)
  local at = max(now, log.newest)
  stamp_log.append(log, at - policy.window_ms, at, cost)
  return at, 0
end

function sliding_window.refund(policy, log, receipt, now)
  local instant = max(now, log.newest)
  if receipt.at <= instant - policy.window_ms then
    return false
  end
  return stamp_log.take(log, receipt.at, receipt.part)
end

function sliding_window.expires_at(policy, log)
  return stamp_log.units(log) > 0 and log.newest + policy.window_ms or 0
end

return sliding_window
