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

-- When a key has nothing to tell any more. Where there is no state, there may be something remembered.
local function ends_at(keeper, state)
  return max(state and keeper.algorithm.expires_at(keeper, state) or 0, keeper.until_ms or 0)
end

-- No state that was written here ends later: what it holds, and its instant, are below 2^53.
local latest_end_ms = 2 ^ 54

-- Reads what there is of a charge's subject, and notes what its state is to be kept under. `carried` is whether that
-- has been converted from a state of another policy. What nobody can have written counts for nothing: it would raise
-- an error once others of the batch have been charged.
local function find(charge, policy)
  local state, foreign = policy.algorithm.load(charge.key, policy)
  charge.keeper, charge.carried = policy, false
  if foreign then
    state = need("migration").carry_over(charge, foreign)
  end
  if not (ends_at(charge.keeper, state) <= latest_end_ms) then
    state, charge.keeper, charge.carried = nil, policy, false
  end
  charge.state = state
  if policy.on then
    need("bans").load(charge)
  end
  return state
end

local function look(charge, want_next)
  local policy = charge.policy
  local state = find(charge, policy)
  local allowed, remaining, retry_ms, reset_ms, delay_ms =
    policy.algorithm.measure(policy, state, now_ms, charge.cost)
  if policy.on and charge.ban_ms > 0 and charge.cost > 0 then
    allowed = false
  end
  charge.allowed, charge.retry_ms, charge.delay_ms = allowed, retry_ms, delay_ms
  charge.remaining, charge.reset_ms = remaining, reset_ms
  if want_next then
    charge.next_ms = wait_for_more(charge, remaining)
  end
  return allowed or policy.shadow
end

local function keep(key, keeper, state)
  keeper.algorithm.keep(key, keeper, state, ttl_until(ends_at(keeper, state)))
end

-- What a charge leaves.
local function look_at_rest(charge, policy, want_next)
  local _, remaining, _, reset_ms = policy.algorithm.measure(policy, charge.state, now_ms, 0)
  charge.remaining, charge.reset_ms = remaining, reset_ms
  if want_next then
    charge.next_ms = wait_for_more(charge, remaining)
  end
end

local function spend(charge, want_next)
  local policy = charge.policy
  local algorithm = policy.algorithm
  local state = charge.state or algorithm.create(charge.key, policy)
  charge.state = state
  charge.at, charge.mark = algorithm.spend(policy, state, now_ms, charge.cost)
  keep(charge.key, charge.keeper, state)
  look_at_rest(charge, policy, want_next)
end

local function heal(charge)
  if charge.state and call("PTTL", charge.key) == -1 then
    call("PEXPIRE", charge.key, text_of(ttl_until(ends_at(charge.keeper, charge.state))))
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
    local policy = charge.policy
    local remaining, reset_ms, next_ms = charge.remaining, charge.reset_ms, charge.next_ms
    if mode ~= "p" then
      if charge.carried then
        keep(charge.key, charge.keeper, charge.state)
      end
      if admitted and charge.allowed and charge.cost > 0 then
        spend(charge, want_next)
      else
        heal(charge)
      end
    end
    if policy.on then
      local bans = need("bans")
      if mode ~= "p" and not charge.allowed and counts_refusal(policy, admitted, mode) then
        bans.strike(charge)
      end
      bans.tell(charge, want_next)
      if not charge.allowed then
        charge.retry_ms = max(charge.retry_ms, charge.ban_ms)
      end
    end
    add_outcome(reply, #reply, charge)
    if mode == "l" then
      local size = #reply
      reply[size + 1], reply[size + 2], reply[size + 3] = remaining, reset_ms, next_ms
    end
    if policy.on then
      reply[#reply + 1] = charge.ban_ms
    end
  end
  return reply
end
