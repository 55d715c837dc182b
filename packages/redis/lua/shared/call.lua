-- What the parts of one call share: the policies that it names, by their places; how far its keys are read; and
-- whether a batch has been decided.

local policies = {}
local keys_read = 0
local decided = false

local function next_key()
  keys_read = keys_read + 1
  return KEYS[keys_read]
end

-- The text of an error, and whether it must fail the call as a whole: a server that cannot write does, so that the
-- client sees its error for what it is. Redis 7 raises a table, Redis 6 a text that begins with the script's name
-- and line.
local function failure(raised)
  local text = type(raised) == "table" and raised.err or tostring(raised)
  text = match(text, "(%u%u+ .*)") or text
  return text, not decided and sub(text, 1, 9) ~= "WRONGTYPE"
end
