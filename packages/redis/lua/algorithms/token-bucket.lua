-- Token bucket: refills continuously, computed from elapsed time.
-- Policy: limit, window_ms, extra = burst.
-- State { units, at_ms }, kept as "t<window> <units> <at> <limit> <burst>".

local owed = need("owed")

local token_bucket = {
  tells_extra = true,
  create = owed.create,
  state_of = owed.state_of,
  load = load_text,
  keep = owed.keep,
  expires_at = owed.expires_at,
}

function token_bucket.capacity(policy)
  return policy.extra
end

function token_bucket.measure(policy, state, now, cost)
  local limit, window_ms, burst = policy.limit, policy.window_ms, policy.extra
  local instant = owed.instant_of(state, now)
  local late_ms = instant - now
  local units = owed.at(state, limit, instant)
  local full = burst * window_ms
  local excess = cost > burst and never or units + cost * window_ms - full
  local allowed = cost == 0 or excess <= 0
  local remaining = max(0, floor((full - units) / window_ms))
  local retry_ms = allowed and 0 or late_ms + ceil(excess / limit)
  return allowed, remaining, retry_ms, units > 0 and late_ms + ceil(units / limit) or 0, 0
end

function token_bucket.spend(policy, state, now, cost)
  local at = owed.instant_of(state, now)
  state.units = owed.at(state, policy.limit, at) + cost * policy.window_ms
  state.at_ms = at
  return at, 0
end

function token_bucket.refund(policy, state, receipt, now)
  local instant = owed.instant_of(state, now)
  local refill_ms = ceil((policy.extra * policy.window_ms) / policy.limit)
  -- Everything taken so long ago has come back by itself.
  if instant - receipt.at >= refill_ms then
    return false
  end
  local units = owed.at(state, policy.limit, instant)
  state.units = max(0, units - receipt.part * policy.window_ms)
  state.at_ms = instant
  return true
end

return token_bucket
