-- The entry. KEYS: the key of every charge of every batch, in order, and behind it the key of its ban where the
-- policy has a penalty; but for refunds.
-- ARGV, after the times: the number of policies, for each its algorithm's tag, limit, window_ms and extra, and with
-- a capital tag also its version, the first letter of its migration rule, its debt, whether it is a shadow (1 or 0),
-- the first letter of what its penalty counts ("-" for no penalty), and a penalty's after, within_ms and ban_ms.
-- Then the batches up to the end: for each its mode with the number of charges behind it unless that is 1 ("c",
-- "P3"); a capital letter asks for more: next, or as the mode says. For each charge the policy's place, the cost,
-- with a penalty the subject if the key does not show it, and for a refund the instant and the mark of the receipt,
-- and in capitals the part.
--
-- Reply: the server's time in ms; 1 when the call came too late and did nothing, else 0; then for each batch
-- its numbers, or the text of the error that kept it from being decided. Of each charge: allowed (1 or 0),
-- remaining, retry, next, reset, delay, and the receipt's instant and mark; then what was settled, or what a leg's
-- charge met; and with a penalty until when the subject is banned. -1 is never, or absent.

local decided_modes = { c = decide, l = decide, p = decide }

local function handler_of(mode)
  return decided_modes[mode] or need("changes")[mode] or need("bans")[mode]
end

local function read_rest(policy)
  policy.version, policy.migrate, policy.debt = next_number(), next_text(), next_number()
  policy.shadow = next_text() == "1"
  local on = next_text()
  if on ~= "-" then
    policy.on = on
    policy.after, policy.within_ms, policy.ban_ms = next_number(), next_number(), next_number()
  end
end

local policies = {}
for place = 1, next_number() do
  local tag, limit, window_ms, extra = next_text(), next_text(), next_text(), next_text()
  local policy
  if algorithm_names[tag] then
    policy = policy_of(tag, limit, window_ms, extra, "1")
    policy.version, policy.debt = 1, 0
  else
    policy = policy_of(string.lower(tag), limit, window_ms, extra, ARGV[position + 1])
    read_rest(policy)
  end
  policies[text_of(place)] = policy
end

local keys_read = 0

local function next_key()
  keys_read = keys_read + 1
  return KEYS[keys_read]
end

-- One batch is decided before the next is read, so all of them use the same tables.
local batch = { charges = {} }

local function read_charge(place)
  local charge = batch.charges[place] or {}
  batch.charges[place] = charge
  charge.key = next_key()
  charge.policy = policies[next_text()]
  charge.cost = next_number()
  charge.next_ms, charge.at, charge.mark = -1, -1, 0
  if batch.mode == "r" then
    charge.at, charge.mark = next_number(), next_number()
    charge.part = batch.capital and next_number() or charge.cost
  elseif charge.policy.on then
    charge.ban_key, charge.told = next_key(), next_text()
  end
end

local function read_batch()
  local head = next_text()
  batch.size = #head == 1 and 1 or tonumber(string.sub(head, 2))
  local letter = string.sub(head, 1, 1)
  batch.mode = string.lower(letter)
  batch.capital = batch.mode ~= letter
  for place = 1, batch.size do
    read_charge(place)
  end
end

-- Redis 7 raises a table, Redis 6 a text that begins with the script's name and line.
local function error_text(raised)
  local text = type(raised) == "table" and raised.err or tostring(raised)
  return string.match(text, "(%u%u+ .*)") or text
end

if server_ms > not_after_ms then
  return { server_ms, 1 }
end

local reply = { server_ms, 0 }
local decided = false
while position < #ARGV do
  read_batch()
  local succeeded, result = pcall(handler_of(batch.mode), batch)
  if succeeded then
    decided = true
  else
    result = error_text(result)
    -- A server that cannot write fails the call as a whole, so that the client sees its error for what it is.
    if not decided and string.sub(result, 1, 9) ~= "WRONGTYPE" then
      return error_reply(result)
    end
  end
  reply[#reply + 1] = result
end
return reply
