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
  charge.state = policy.algorithm.load(charge.key, policy)
  local allowed, remaining, retry_ms, reset_ms, delay_ms =
    policy.algorithm.measure(policy, charge.state, now_ms, charge.cost)
  charge.allowed, charge.retry_ms, charge.delay_ms = allowed, retry_ms, delay_ms
  charge.remaining, charge.reset_ms = remaining, reset_ms
  charge.next_ms = want_next and wait_for_more(charge, remaining) or -1
  charge.at, charge.mark = -1, 0
  return allowed
end

local function spend(charge, want_next)
  local policy, algorithm = charge.policy, charge.policy.algorithm
  local state = charge.state or algorithm.create(charge.key, policy)
  charge.state = state
  charge.at, charge.mark = algorithm.spend(policy, state, now_ms, charge.cost)
  algorithm.keep(charge.key, policy, state, ttl_until(algorithm.expires_at(policy, state)))
  local _, remaining, _, reset_ms = algorithm.measure(policy, state, now_ms, 0)
  charge.remaining, charge.reset_ms = remaining, reset_ms
  charge.next_ms = want_next and wait_for_more(charge, remaining) or -1
end

local function heal(charge)
  if charge.state and redis.call("PTTL", charge.key) == -1 then
    local algorithm = charge.policy.algorithm
    local expires_at = algorithm.expires_at(charge.policy, charge.state)
    redis.call("PEXPIRE", charge.key, text_of(ttl_until(expires_at)))
  end
end

local function add(reply, ...)
  for _, number in ipairs({ ... }) do
    reply[#reply + 1] = number == math.huge and -1 or number
  end
end

local function add_outcome(reply, charge)
  add(reply, charge.allowed and 1 or 0, charge.remaining, charge.retry_ms, charge.next_ms)
  add(reply, charge.reset_ms, charge.delay_ms, charge.at, charge.mark)
end

-- Modes: "c" commits; "l" commits one leg of a larger batch, and tells as well what each charge met, for the
-- case that a later leg refuses; "p" only looks.
local function decide(batch)
  local admitted, reply = true, {}
  for _, charge in ipairs(batch.charges) do
    admitted = look(charge, batch.want_next) and admitted
  end
  for _, charge in ipairs(batch.charges) do
    local remaining, reset_ms, next_ms = charge.remaining, charge.reset_ms, charge.next_ms
    if batch.mode ~= "p" then
      if admitted and charge.cost > 0 then
        spend(charge, batch.want_next)
      else
        heal(charge)
      end
    end
    add_outcome(reply, charge)
    if batch.mode == "l" then
      add(reply, remaining, reset_ms, next_ms)
    end
  end
  return reply
end

-- Mode "r": gives back what the receipts name, as far as it still counts; never creates a key.
local function refund(batch)
  for _, receipt in ipairs(batch.charges) do
    local policy, algorithm = receipt.policy, receipt.policy.algorithm
    local state = algorithm.load(receipt.key, policy)
    if state and algorithm.refund(policy, state, receipt, now_ms) then
      local expires_at = algorithm.expires_at(policy, state)
      if expires_at <= now_ms then
        redis.call("DEL", receipt.key)
      else
        algorithm.keep(receipt.key, policy, state, ttl_until(expires_at))
      end
    end
  end
  return {}
end

-- Mode "x": makes subjects untouched.
local function reset(batch)
  for _, charge in ipairs(batch.charges) do
    redis.call("DEL", charge.key)
  end
  return {}
end
