-- One batch: measures every charge, then spends all or nothing. All reads precede the first write. A refusal
-- writes nothing but a strike, and a state that another policy had written; a key found without a TTL gets it back.

-- Until `remaining` grows; -1 when it is the capacity.
local function wait_for_more(charge, remaining)
  local policy = charge.policy
  if remaining >= policy.algorithm.capacity(policy) then
    return -1
  end
  local _, _, retry_ms = policy.algorithm.measure(policy, charge.state, now_ms, remaining + 1)
  return retry_ms
end

-- Reads what there is of a charge's subject.
local function find(charge)
  local policy = charge.policy
  local state, foreign = policy.algorithm.load(charge.key, policy)
  charge.keeper, charge.converted = policy, false
  charge.state = foreign and carry_over(charge, foreign) or state
  charge.ban_ms = 0
  if policy.on then
    bans.load(charge)
  end
end

local function look(charge, want_next)
  local policy = charge.policy
  find(charge)
  local allowed, remaining, retry_ms, reset_ms, delay_ms =
    policy.algorithm.measure(policy, charge.state, now_ms, charge.cost)
  charge.allowed = allowed and (charge.ban_ms == 0 or charge.cost == 0)
  charge.retry_ms, charge.delay_ms = retry_ms, delay_ms
  charge.remaining, charge.reset_ms = remaining, reset_ms
  if want_next then
    charge.next_ms = wait_for_more(charge, remaining)
  end
  return charge.allowed or policy.shadow
end

local function keep(charge)
  local policy, algorithm = charge.policy, charge.policy.algorithm
  local ttl_ms = ttl_until(algorithm.expires_at(policy, charge.state))
  algorithm.keep(charge.key, charge.keeper, charge.state, ttl_ms)
end

-- What a charge leaves.
local function look_at_rest(charge, want_next)
  local policy = charge.policy
  local _, remaining, _, reset_ms = policy.algorithm.measure(policy, charge.state, now_ms, 0)
  charge.remaining, charge.reset_ms = remaining, reset_ms
  if want_next then
    charge.next_ms = wait_for_more(charge, remaining)
  end
end

local function spend(charge, want_next)
  local policy, algorithm = charge.policy, charge.policy.algorithm
  charge.state = charge.state or algorithm.create(charge.key, policy)
  charge.at, charge.mark = algorithm.spend(policy, charge.state, now_ms, charge.cost)
  keep(charge)
  look_at_rest(charge, want_next)
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

-- Whether a refusal by the policy itself counts towards its penalty. Of a shadow policy only where all others
-- admit, which a leg cannot know.
local function counts_refusal(policy, admitted, mode)
  return policy.on == "r" and (not policy.shadow or (admitted and mode == "c"))
end

-- Modes: "c" commits; "l" commits one leg of a larger batch, and tells as well what each charge met, for the
-- case that a later leg refuses; "p" only looks. A shadow charge refuses nothing.
local function decide(batch)
  local charges, want_next, mode = batch.charges, batch.capital, batch.mode
  local admitted, reply = true, {}
  for place = 1, batch.size do
    admitted = look(charges[place], want_next) and admitted
  end
  for place = 1, batch.size do
    local charge = charges[place]
    local remaining, reset_ms, next_ms = charge.remaining, charge.reset_ms, charge.next_ms
    if mode ~= "p" then
      if charge.converted then
        keep(charge)
      end
      if admitted and charge.allowed and charge.cost > 0 then
        spend(charge, want_next)
      else
        heal(charge)
      end
    end
    if charge.policy.on then
      if mode ~= "p" and not charge.allowed and counts_refusal(charge.policy, admitted, mode) then
        bans.strike(charge)
      end
      bans.tell(charge)
      if not charge.allowed then
        charge.retry_ms = max(charge.retry_ms, charge.ban_ms)
      end
    end
    add_outcome(reply, #reply, charge)
    local size = #reply
    if mode == "l" then
      reply[size + 1], reply[size + 2], reply[size + 3] = remaining, reset_ms, next_ms
      size = size + 3
    end
    if charge.policy.on then
      reply[size + 1] = charge.ban_ms
    end
  end
  return reply
end

-- Mode "s": settles each charge for itself, as much as capacity and debt have room for, and tells how much.
local function settle(batch)
  local charges, want_next, reply = batch.charges, batch.capital, {}
  for place = 1, batch.size do
    find(charges[place])
  end
  for place = 1, batch.size do
    local charge = charges[place]
    local policy, asked = charge.policy, charge.cost
    if charge.converted then
      keep(charge)
    end
    local _, room = policy.algorithm.measure(enlarged(policy, policy.debt), charge.state, now_ms, 0)
    charge.cost = min(asked, room)
    charge.allowed = charge.cost == asked
    if charge.cost > 0 then
      spend(charge, want_next)
    else
      heal(charge)
      look_at_rest(charge, want_next)
    end
    if policy.on then
      bans.tell(charge)
    end
    charge.retry_ms, charge.delay_ms = 0, 0
    add_outcome(reply, #reply, charge)
    reply[#reply + 1] = charge.cost
    if policy.on then
      reply[#reply + 1] = charge.ban_ms
    end
  end
  return reply
end

-- The policy and the state that a receipt's charge has become part of; nil where it no longer counts.
local function find_charged(receipt)
  local policy = receipt.policy
  local state, foreign = policy.algorithm.load(receipt.key, policy)
  local keeper = policy
  if foreign then
    keeper, state = held_in(receipt.key, foreign)
    -- What has been converted since keeps no trace of single charges.
    if not keeper or keeper.tag ~= policy.tag or keeper.window_ms ~= policy.window_ms then
      return nil
    end
  end
  if state and policy.algorithm.expires_at(keeper, state) > now_ms then
    return keeper, state
  end
  return nil
end

-- Mode "r": gives back what the receipts name, or in capitals a part of it, as far as it still counts; never
-- creates a key.
local function refund(batch)
  for place = 1, batch.size do
    local receipt = batch.charges[place]
    local policy, algorithm = receipt.policy, receipt.policy.algorithm
    local keeper, state = find_charged(receipt)
    if keeper and algorithm.refund(policy, state, receipt, now_ms) then
      local expires_at = algorithm.expires_at(keeper, state)
      if expires_at <= now_ms then
        call("DEL", receipt.key)
      else
        algorithm.keep(receipt.key, keeper, state, ttl_until(expires_at))
      end
    end
  end
  return {}
end

-- Mode "x": makes subjects untouched; in capitals their bans go on.
local function reset(batch)
  for place = 1, batch.size do
    local charge = batch.charges[place]
    if charge.policy.on then
      charge.ban_ms = 0
      if batch.capital then
        bans.load(charge)
      end
      if charge.ban_ms == 0 then
        call("DEL", charge.ban_key)
      end
    end
    call("DEL", charge.key)
  end
  return {}
end
