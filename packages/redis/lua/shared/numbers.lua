-- Numbers as text. Lua's own conversion keeps 14 digits; an instant in milliseconds has 13.

-- What the script calls often, as locals: a global is looked up by name each time.
local call, error_reply = redis.call, redis.error_reply
local floor, ceil, max, min = math.floor, math.ceil, math.max, math.min
local format, match, sub = string.format, string.match, string.sub

-- The wait of a cost that can never fit.
local never = math.huge

-- The faster way to write an integer, where the server's own integers are wide enough for all of ours.
local digits = format("%d", 2 ^ 52) == "4503599627370496" and "%d" or "%.0f"

local function text_of(number)
  return format(digits, number)
end
