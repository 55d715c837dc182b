-- One batch: measures every charge, then spends all or nothing. All reads precede the first write, and a
-- refusal writes nothing; a key found without a TTL gets it back.

local algorithms = {
  f = fixed_window,
  w = sliding_window,
  c = sliding_window_counter,
  t = token_bucket,
  l = leaky_bucket,
}

-- Until `remaining` grows; -1 when it is the capacity.
local function wait_for_more(charge, remaining)
  local policy = charge.policy
  if remaining >= policy.algorithm.capacity(policy) then
    return -1
  end
  local _, _, retry_ms = policy.algorithm.measure(policy, charge.state, now_ms, remaining + 1)
  return retry_ms
end

local function look(charge, want_next)
  local policy = charge.policy
  local algorithm = policy.algorithm
  local state = algorithm.load(charge.key, policy)
  charge.state = state
  local allowed, remaining, retry_ms, reset_ms, delay_ms =
    algorithm.measure(policy, state, now_ms, charge.cost)
  charge.allowed, charge.retry_ms, charge.delay_ms = allowed, retry_ms, delay_ms
  charge.remaining, charge.reset_ms = remaining, reset_ms
  if want_next then
    charge.next_ms = wait_for_more(charge, remaining)
  end
  return allowed
end

local function spend(charge, want_next)
  local policy, key = charge.policy, charge.key
  local algorithm = policy.algorithm
  local state = charge.state or algorithm.create(key, policy)
  charge.state = state
  charge.at, charge.mark = algorithm.spend(policy, state, now_ms, charge.cost)
  algorithm.keep(key, policy, state, ttl_until(algorithm.expires_at(policy, state)))
  local _, remaining, _, reset_ms = algorithm.measure(policy, state, now_ms, 0)
  charge.remaining, charge.reset_ms = remaining, reset_ms
  if want_next then
    charge.next_ms = wait_for_more(charge, remaining)
  end
end

local function heal(charge)
  if charge.state and call("PTTL", charge.key) == -1 then
    local algorithm = charge.policy.algorithm
    local expires_at = algorithm.expires_at(charge.policy, charge.state)
    call("PEXPIRE", charge.key, text_of(ttl_until(expires_at)))
  end
end

local function add_outcome(reply, size, charge)
  reply[size + 1] = charge.allowed and 1 or 0
  reply[size + 2] = charge.remaining
  reply[size + 3] = charge.retry_ms == never and -1 or charge.retry_ms
  reply[size + 4] = charge.next_ms
  reply[size + 5] = charge.reset_ms
  reply[size + 6] = charge.delay_ms
  reply[size + 7] = charge.at
  reply[size + 8] = charge.mark
end

-- Modes: "c" commits; "l" commits one leg of a larger batch, and tells as well what each charge met, for the
-- case that a later leg refuses; "p" only looks.
local function decide(batch)
  local charges, want_next, mode = batch.charges, batch.want_next, batch.mode
  local admitted, reply = true, {}
  for place = 1, batch.size do
    admitted = look(charges[place], want_next) and admitted
  end
  for place = 1, batch.size do
    local charge = charges[place]
    local remaining, reset_ms, next_ms = charge.remaining, charge.reset_ms, charge.next_ms
    if mode ~= "p" then
      if admitted and charge.cost > 0 then
        spend(charge, want_next)
      else
        heal(charge)
      end
    end
    add_outcome(reply, #reply, charge)
    if mode == "l" then
      local size = #reply
      reply[size + 1], reply[size + 2], reply[size + 3] = remaining, reset_ms, next_ms
    end
  end
  return reply
end

-- Mode "r": gives back what the receipts name, as far as it still counts; never creates a key.
local function refund(batch)
  for place = 1, batch.size do
    local receipt = batch.charges[place]
    local policy, algorithm = receipt.policy, receipt.policy.algorithm
    local state = algorithm.load(receipt.key, policy)
    if state and algorithm.refund(policy, state, receipt, now_ms) then
      local expires_at = algorithm.expires_at(policy, state)
      if expires_at <= now_ms then
        call("DEL", receipt.key)
      else
        algorithm.keep(receipt.key, policy, state, ttl_until(expires_at))
      end
    end
  end
  return {}
end

-- Mode "x": makes subjects untouched.
local function reset(batch)
  for place = 1, batch.size do
    local charge = batch.charges[place]
    call("DEL", charge.key)
  end
  return {}
end
