-- The entry. KEYS: the key of every charge of every batch, in order, and behind it the key of its ban where the
-- policy has a penalty; but for refunds.
-- ARGV, after the times: the number of policies, for each its algorithm's tag, limit, window (as states tell
-- it, and in ms) and extra, and with a capital tag also its version, the first letter of its migration rule, its debt, whether it is a shadow (1 or 0),
-- the first letter of what its penalty counts ("-" for no penalty), and a penalty's after, within_ms and ban_ms.
-- Then the batches up to the end: for each its mode with the number of charges behind it unless that is 1 ("c",
-- "P3"); a capital letter asks for more: next, or as the mode says. For each charge the policy's place, the cost,
-- with a penalty the subject if the key does not show it, and for a refund the instant and the mark of the receipt,
-- and in capitals the part. "q" with a number is a run of so many commits of one plain charge each: the policy's
-- place and the cost stand once. "Q" is one of several each: how many, and for each the policy's place and the cost.
--
-- Reply: the server's time in ms; 1 when the call came too late and did nothing, else 0; then for each batch
-- its numbers, or the text of the error that kept it from being decided. Of each charge: allowed (1 or 0),
-- remaining, retry, next, reset, delay, and the receipt's instant and mark; then what was settled, or what a leg's
-- charge met; and with a penalty until when the subject is banned. -1 is never, or absent. Of a run the text that
-- run.lua makes.

if server_ms > not_after_ms then
  return { server_ms, 1 }
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

for place = 1, next_number() do
  local tag, limit, window, window_ms, extra = next_text(), next_text(), next_text(), next_text(), next_text()
  local plain_tag = string.lower(tag)
  local is_plain = tag == plain_tag
  local policy = terms_of(plain_tag, limit, window, window_ms, extra, is_plain and "1" or ARGV[position + 1])
  policy.version, policy.debt = 1, 0
  if not is_plain then
    read_rest(policy)
  end
  policies[place] = policy
end

local reply = { server_ms, 0 }
while position < #ARGV do
  local letter, size = match(next_text(), "(%a)(%d*)")
  size = tonumber(size) or 1
  local told, failed
  if letter == "q" then
    told, failed = decide_run(size, 1)
  elseif letter == "Q" then
    told, failed = decide_run(size, next_number())
  else
    told, failed = need("batches").decide_next(letter, size)
  end
  if failed then
    return error_reply(failed)
  end
  reply[#reply + 1] = told
end
return reply
