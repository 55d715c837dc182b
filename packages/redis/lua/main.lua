-- The entry. KEYS: the key of every charge of every batch, in order.
-- ARGV, after the times: the number of policies, for each its algorithm's tag, limit, window_ms and extra; then
-- the batches up to the end: for each its mode, in capitals when next is wanted, with the number of charges behind
-- it unless that is 1 ("c", "P3"); for each charge the policy's place and the cost, and for a refund the instant
-- and the mark of the receipt.
--
-- Reply: the server's time in ms; 1 when the call came too late and did nothing, else 0; then for each batch
-- its numbers, or the text of the error that kept it from being decided. Of each charge: allowed (1 or 0),
-- remaining, retry, next, reset, delay, and the receipt's instant and mark. -1 is never, or absent.

local handlers = { c = decide, l = decide, p = decide, r = refund, x = reset }

local policies = {}
for place = 1, next_number() do
  local tag = next_text()
  local policy = { tag = tag, algorithm = algorithms[tag], limit = next_number() }
  policy.window_ms = next_number()
  policy.extra = next_number()
  policies[text_of(place)] = policy
end

local keys_read = 0

-- One batch is decided before the next is read, so all of them use the same tables.
local batch = { charges = {} }

local function read_charge(place)
  local charge = batch.charges[place] or {}
  batch.charges[place] = charge
  keys_read = keys_read + 1
  charge.key = KEYS[keys_read]
  charge.policy = policies[next_text()]
  charge.cost = next_number()
  charge.next_ms, charge.at, charge.mark = -1, -1, 0
  if batch.mode == "r" then
    charge.at, charge.mark = next_number(), next_number()
  end
end

local function read_batch()
  local head = next_text()
  batch.size = #head == 1 and 1 or tonumber(string.sub(head, 2))
  local letter = string.sub(head, 1, 1)
  batch.mode = string.lower(letter)
  batch.want_next = batch.mode ~= letter
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
  local succeeded, result = pcall(handlers[batch.mode], batch)
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
