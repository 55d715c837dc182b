-- The entry. KEYS: the key of every charge of every batch, in order, and behind it the key of its ban where the
-- policy has a penalty; but for refunds.
-- ARGV, after the times: the number of policies, for each its algorithm's tag, limit, window_ms and extra, and with
-- a capital tag also its version, the first letter of its migration rule, its debt, whether it is a shadow (1 or 0),
-- the first letter of what its penalty counts ("-" for no penalty), and a penalty's after, within_ms and ban_ms.
-- Then the batches up to the end: for each its mode with the number of charges behind it unless that is 1 ("c",
-- "P3"); a capital letter asks for more: next, or as the mode says. For each charge the policy's place, the cost,
-- with a penalty the subject if the key does not show it, and for a refund the instant and the mark of the receipt,
-- and in capitals the part. "q" with a number is a run of so many commits of one plain charge each: the policy's
-- place and the cost stand once.
--
-- Reply: the server's time in ms; 1 when the call came too late and did nothing, else 0; then for each batch
-- its numbers, or the text of the error that kept it from being decided. Of each charge: allowed (1 or 0),
-- remaining, retry, next, reset, delay, and the receipt's instant and mark; then what was settled, or what a leg's
-- charge met; and with a penalty until when the subject is banned. -1 is never, or absent. Of each charge of a
-- run the five numbers of run.lua, or the text of its error and four zeros.

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
    policy.debt = 0
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

local function read_batch(letter, size)
  batch.size = size
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

local decided = false

-- The text of an error, and whether it must fail the call as a whole: a server that cannot write does, so that the
-- client sees its error for what it is.
local function failure(raised)
  local text = error_text(raised)
  return text, not decided and string.sub(text, 1, 9) ~= "WRONGTYPE"
end

local function decide_run(size)
  local policy, cost, told = policies[next_text()], next_number(), {}
  for last = 5, 5 * size, 5 do
    local succeeded, wait_ms, remaining, reset_ms, mark, ahead_ms =
      pcall(commit_one, next_key(), policy, cost)
    if succeeded then
      decided = true
    else
      local text, fails_all = failure(wait_ms)
      if fails_all then
        return nil, text
      end
      wait_ms, remaining, reset_ms, mark, ahead_ms = text, 0, 0, 0, 0
    end
    told[last - 4], told[last - 3], told[last - 2] = wait_ms, remaining, reset_ms
    told[last - 1], told[last] = mark, ahead_ms
  end
  return told
end

local function decide_batch(letter, size)
  read_batch(letter, size)
  local succeeded, result = pcall(handler_of(batch.mode), batch)
  if succeeded then
    decided = true
    return result
  end
  local text, fails_all = failure(result)
  if fails_all then
    return nil, text
  end
  return text
end

local reply = { server_ms, 0 }
while position < #ARGV do
  local head = next_text()
  local letter = string.sub(head, 1, 1)
  local size = #head == 1 and 1 or tonumber(string.sub(head, 2))
  local told, failed
  if letter == "q" then
    told, failed = decide_run(size)
  else
    told, failed = decide_batch(letter, size)
  end
  if failed then
    return error_reply(failed)
  end
  reply[#reply + 1] = told
end
return reply
