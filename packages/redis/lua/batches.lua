-- Batches of every kind, as the call tells them.

local batches = { decide = decide }

local decided_modes = { c = decide, l = decide, p = decide }

local function handler_of(mode)
  return decided_modes[mode] or need("changes")[mode] or need("bans")[mode]
end

-- One batch is decided before the next is read, so all of them use the same tables.
local batch = { charges = {} }

local function read_charge(place)
  local charge = batch.charges[place] or {}
  batch.charges[place] = charge
  charge.key = next_key()
  charge.policy = with_algorithm(policies[next_number()])
  charge.cost = next_number()
  charge.next_ms, charge.at, charge.mark = -1, -1, 0
  if batch.mode == "r" then
    charge.at, charge.mark = next_number(), next_number()
    charge.part = batch.capital and next_number() or charge.cost
  elseif charge.policy.on then
    charge.ban_key, charge.told = next_key(), next_text()
  end
end

function batches.decide_next(letter, size)
  batch.size = size
  batch.mode = string.lower(letter)
  batch.capital = batch.mode ~= letter
  for place = 1, size do
    read_charge(place)
  end
  local succeeded, result = pcall(handler_of(batch.mode), batch)
  if succeeded then
    decided = true
    return result
  end
  local text, fails_all = need("failure")(result)
  if fails_all then
    return nil, text
  end
  return text
end

return batches
