-- Numbers as text and as bytes. Lua's own conversion keeps 14 digits; an instant in milliseconds has 13.

-- What the script calls often, as locals: a global is looked up by name each time.
local call, error_reply = redis.call, redis.error_reply
local floor, ceil, max, min = math.floor, math.ceil, math.max, math.min
local format, match, sub = string.format, string.match, string.sub

-- The wait of a cost that can never fit.
local never = math.huge

local function text_of(number)
  return format("%.0f", number)
end

local function bytes_of(number, width)
  local bytes = {}
  for place = width, 1, -1 do
    bytes[place] = number % 256
    number = floor(number / 256)
  end
  return string.char(unpack(bytes))
end

-- The number in `width` bytes of `text` after the first `skipped`.
local function number_in(text, skipped, width)
  local number = 0
  for place = skipped + 1, skipped + width do
    number = number * 256 + string.byte(text, place)
  end
  return number
end

-- The fewest bytes that can tell `count` numbers apart.
local function width_for(count)
  local width, told_apart = 1, 256
  while told_apart < count do
    width, told_apart = width + 1, told_apart * 256
  end
  return width
end
