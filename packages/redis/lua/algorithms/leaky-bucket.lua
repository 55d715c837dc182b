-- Leaky bucket: what is owed is how far the next free slot lies ahead; an admitted request waits for it.
-- Policy: limit, window_ms, extra = queue.
-- State { units, at_ms }, kept as "l<window> <units> <at> <limit> <queue>".

local owed = need("owed")

local leaky_bucket = {
  tells_extra = true,
  create = owed.create,
  state_of = owed.state_of,
  load = load_text,
  keep = owed.keep,
  expires_at = owed.expires_at,
}

function leaky_bucket.capacity(policy)
  return policy.extra + 1
end

function leaky_bucket.measure(policy, state, now, cost)
  local limit, window_ms, queue = policy.limit, policy.window_ms, policy.extra
  local instant = owed.instant_of(state, now)
  local late_ms = instant - now
  local units = owed.at(state, limit, instant)
  local longest = queue * window_ms
  -- The last unit of the call must find its slot within the queue.
  local excess = cost > queue + 1 and never or units + (cost - 1) * window_ms - longest
  local allowed = cost == 0 or excess <= 0
  local slot_ms = ceil(units / limit)
  local remaining = max(0, floor((longest - units) / window_ms) + 1)
  local retry_ms = allowed and 0 or late_ms + ceil(excess / limit)
  local reset_ms = units > 0 and late_ms + slot_ms or 0
  return allowed, remaining, retry_ms, reset_ms, (allowed and cost > 0) and slot_ms or 0
end

function leaky_bucket.spend(policy, state, now, cost)
  local at = owed.instant_of(state, now)
  state.units = owed.at(state, policy.limit, at) + cost * policy.window_ms
  state.at_ms = at
  return at, state.units
end

function leaky_bucket.refund(policy, state, receipt, now)
  local before = receipt.mark - receipt.cost * policy.window_ms
  local departure_ms = receipt.at + ceil(before / policy.limit)
  local undisturbed = state.units == receipt.mark and state.at_ms == receipt.at
  -- A slot with others behind it, or one that has been used, cannot be given back.
  if undisturbed and owed.instant_of(state, now) <= departure_ms then
    state.units = receipt.mark - receipt.part * policy.window_ms
    return true
  end
  return false
end

return leaky_bucket
