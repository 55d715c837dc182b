-- What changes states but by deciding.

local changes = {}

-- Mode "s": settles each charge for itself, as much as capacity and debt have room for, and tells how much.
function changes.s(batch)
  local charges, want_next, reply = batch.charges, batch.capital, {}
  for place = 1, batch.size do
    find(charges[place], charges[place].policy)
  end
  for place = 1, batch.size do
    local charge = charges[place]
    local policy, asked = charge.policy, charge.cost
    if charge.carried then
      keep(charge.key, charge.keeper, charge.state)
    end
    local _, room = policy.algorithm.measure(enlarged(policy, policy.debt), charge.state, now_ms, 0)
    charge.cost = min(asked, room)
    charge.allowed = charge.cost == asked
    if charge.cost > 0 then
      spend(charge, want_next)
    else
      heal(charge)
      look_at_rest(charge, policy, want_next)
    end
    if policy.on then
      need("bans").tell(charge, want_next)
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
    keeper, state = need("migration").held_in(receipt.key, foreign)
    -- What has been converted since keeps no trace of single charges.
    if not keeper or keeper.tag ~= policy.tag or keeper.window_ms ~= policy.window_ms then
      return nil
    end
  end
  return state and keeper, state
end

-- Mode "r": gives back what the receipts name, or in capitals a part of it, as far as it still counts; never
-- creates a key. A state that counts nothing then is forgotten, but not that a higher version has written it.
function changes.r(batch)
  for place = 1, batch.size do
    local receipt = batch.charges[place]
    local algorithm = receipt.policy.algorithm
    local keeper, state = find_charged(receipt)
    local until_ms = keeper and ends_at(keeper, state)
    if keeper and algorithm.refund(keeper, state, receipt, now_ms) then
      local highest = keeper.highest or keeper.version
      if algorithm.expires_at(keeper, state) > now_ms then
        keep(receipt.key, keeper, state)
      elseif highest == 1 or until_ms <= now_ms then
        call("DEL", receipt.key)
      else
        keep(receipt.key, need("migration").kept_under(keeper, highest, until_ms), state)
      end
    end
  end
  return {}
end

-- Mode "x": makes subjects untouched; in capitals their bans go on.
function changes.x(batch)
  for place = 1, batch.size do
    local charge = batch.charges[place]
    if charge.policy.on then
      charge.ban_ms = 0
      if batch.capital then
        need("bans").load(charge)
      end
      if charge.ban_ms == 0 then
        call("DEL", charge.ban_key)
      end
    end
    call("DEL", charge.key)
  end
  return {}
end

return changes
