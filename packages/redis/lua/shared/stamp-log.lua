-- The stamps of admitted units, oldest first, packed in one string. Units of one instant share an entry.
--
-- Head: the form and the limit of the policy that wrote it, as text and a line's end: "w1m 100", "w1mv2 100".
-- Counters behind it: the two widths (a byte each), the newest stamp, the newest total and the total before `first`
-- (7 bytes each), then first, last and slots (4 each).
-- Entry: a stamp and the running total of units up to and including it, each cut to its width: all live
-- stamps lie within one window of the newest, and all live units within the limit, so differences are exact.
-- Entries first .. last - 1 are live; up to `slots` is spare.
--
-- Counting and finding the n-th unit are binary searches; an append writes one entry in place. When the
-- spare eighth is used up, the live part is copied as it is, which also drops what has expired.

local stamp_log = {}

local byte, char = string.byte, string.char

-- Each byte by itself: a loop and its table cost three times as much, and a call needs ten of these.
local function bytes_of(number, width)
  local g = number % 256
  number = (number - g) / 256
  local f = number % 256
  number = (number - f) / 256
  local e = number % 256
  number = (number - e) / 256
  local d = number % 256
  if width <= 4 then
    return width == 4 and char(d, e, f, g) or sub(char(e, f, g), -width)
  end
  number = (number - d) / 256
  local c = number % 256
  number = (number - c) / 256
  local b = number % 256
  local bytes = char((number - b) / 256, b, c, d, e, f, g)
  return width == 7 and bytes or sub(bytes, -width)
end

-- The number in `width` bytes, seven at most, of `text` after the first `skipped`.
local function number_in(text, skipped, width)
  local a, b, c, d, e, f, g = byte(text, skipped + 1, skipped + width)
  if width <= 4 then
    local number = b and a * 256 + b or a
    number = c and number * 256 + c or number
    return d and number * 256 + d or number
  end
  local number = (((a * 256 + b) * 256 + c) * 256 + d) * 256 + e
  number = f and number * 256 + f or number
  return g and number * 256 + g or number
end

-- The fewest bytes that can tell `count` numbers apart.
local function width_for(count)
  local width, told_apart = 1, 256
  while told_apart < count do
    width, told_apart = width + 1, told_apart * 256
  end
  return width
end

local counter_bytes = 35
local first_read_bytes = 128

-- How many units a total counts before it begins again at 0. No number may pass 2^53, however wide the total is.
local function circle(total_width)
  return min(256 ^ total_width, 2 ^ 53)
end

-- A total and further units. Not their sum cut afterwards, which could have passed 2^53.
local function advanced(total, units, total_width)
  local rest = circle(total_width) - units
  return total < rest and total + units or total - rest
end

local function pack_entry(log, stamp, total)
  local stamp_bytes = bytes_of(stamp % 256 ^ log.stamp_width, log.stamp_width)
  return stamp_bytes .. bytes_of(total, log.total_width)
end

local function pack_header(log)
  return log.head
    .. char(log.stamp_width, log.total_width)
    .. bytes_of(log.newest, 7)
    .. bytes_of(log.newest_total, 7)
    .. bytes_of(log.base_total, 7)
    .. bytes_of(log.first, 4)
    .. bytes_of(log.last, 4)
    .. bytes_of(log.slots, 4)
end

local function offset_of(log, index)
  return #log.head + counter_bytes + index * (log.stamp_width + log.total_width)
end

-- The bytes of the entries from .. to - 1.
local function entries(log, from, to)
  local offset, stop = offset_of(log, from), offset_of(log, to)
  if stop <= #log.read then
    return sub(log.read, offset + 1, stop)
  end
  if stop == offset then
    return ""
  end
  return call("GETRANGE", log.key, text_of(offset), text_of(stop - 1))
end

local function stamp_at(log, index)
  local stored = number_in(entries(log, index, index + 1), 0, log.stamp_width)
  return log.newest - (log.newest - stored) % 256 ^ log.stamp_width
end

-- The running total at an entry, as it is cut.
local function total_at(log, index)
  if index == log.last - 1 then
    return log.newest_total
  end
  if index == log.first - 1 then
    return log.base_total
  end
  return number_in(entries(log, index, index + 1), log.stamp_width, log.total_width)
end

-- Units of the entries behind `index`, up to the newest.
local function units_behind(log, index)
  return (log.newest_total - total_at(log, index)) % circle(log.total_width)
end

local function units_through(log, index)
  return (total_at(log, index) - log.base_total) % circle(log.total_width)
end

-- The first live entry that satisfies a condition which holds from some entry on.
local function search(log, holds, bound)
  local low, high = log.first, log.last - 1
  while low < high do
    local middle = floor((low + high) / 2)
    if holds(log, middle, bound) then
      high = middle
    else
      low = middle + 1
    end
  end
  return low
end

local function is_after(log, index, instant)
  return stamp_at(log, index) > instant
end

local function reaches(log, index, units)
  return units_through(log, index) >= units
end

-- The first entry with a stamp after `instant`; remembered, since a call asks for one instant several times.
local function first_after(log, instant)
  if log.first == log.last or log.newest <= instant then
    return log.last
  end
  if log.asked ~= instant then
    log.asked = instant
    local all_live = stamp_at(log, log.first) > instant
    log.answer = all_live and log.first or search(log, is_after, instant)
  end
  return log.answer
end

function stamp_log.create(key, policy)
  return {
    key = key,
    head = policy.head,
    read = "",
    stamp_width = width_for(policy.window_ms),
    total_width = width_for(policy.limit + 1),
    newest = 0,
    newest_total = 0,
    base_total = 0,
    first = 0,
    last = 0,
    slots = 0,
  }
end

-- A log of units of one instant that is not written yet.
function stamp_log.filled(key, policy, stamp, units)
  local log = stamp_log.create(key, policy)
  log.total_width = max(log.total_width, width_for(units + 1))
  log.newest, log.newest_total = stamp, units
  log.last, log.slots = 1, 1
  log.read = pack_header(log) .. pack_entry(log, stamp, units)
  log.unwritten = true
  return log
end

-- The log in a text that begins with such a head, or with all of it.
function stamp_log.unpack(key, read, head)
  local size = #head
  if #read < size + counter_bytes then
    return nil
  end
  return {
    key = key,
    head = head,
    read = read,
    stamp_width = byte(read, size + 1),
    total_width = byte(read, size + 2),
    newest = number_in(read, size + 2, 7),
    newest_total = number_in(read, size + 9, 7),
    base_total = number_in(read, size + 16, 7),
    first = number_in(read, size + 23, 4),
    last = number_in(read, size + 27, 4),
    slots = number_in(read, size + 31, 4),
  }
end

-- As load_text does.
function stamp_log.load(key, policy)
  local read = call("GETRANGE", key, "0", text_of(first_read_bytes - 1))
  if read == "" then
    return nil
  end
  local head = policy.head
  if sub(read, 1, #head) ~= head then
    return nil, read
  end
  return stamp_log.unpack(key, read, head)
end

-- Writes what is not written yet, and the head of the policy that the log goes on under.
function stamp_log.write_under(log, keeper)
  if log.unwritten then
    call("SET", log.key, log.read)
    log.unwritten = nil
  end
  if log.head ~= keeper.head then
    local live = call("GETRANGE", log.key, text_of(offset_of(log, 0)), "-1")
    log.head, log.read = keeper.head, ""
    call("SET", log.key, pack_header(log) .. live)
  end
end

-- Units held, expired ones included.
function stamp_log.units(log)
  return log.first == log.last and 0 or units_behind(log, log.first - 1)
end

function stamp_log.units_after(log, instant)
  return units_behind(log, first_after(log, instant) - 1)
end

-- The stamp of the n-th unit held, counted from 1 at the oldest.
function stamp_log.stamp_of_unit(log, n)
  return stamp_at(log, search(log, reaches, n))
end

-- The live entries with totals of another width.
local function widened(log, total_width)
  local wider = { stamp_width = log.stamp_width, total_width = total_width }
  local packed = {}
  for index = log.first, log.last - 1 do
    packed[#packed + 1] = pack_entry(wider, stamp_at(log, index), units_through(log, index))
  end
  log.newest_total = units_through(log, log.last - 1)
  log.base_total = 0
  log.total_width = total_width
  return table.concat(packed)
end

-- Writes the live part and the added units to a fresh string with a spare eighth.
local function rewrite(log, stamp, units)
  local total_width = max(log.total_width, width_for(stamp_log.units(log) + units + 1))
  local live
  if log.first == log.last then
    live, log.newest_total, log.base_total, log.total_width = "", 0, 0, total_width
  elseif total_width > log.total_width then
    live = widened(log, total_width)
  else
    live = entries(log, log.first, log.last)
  end
  local width = log.stamp_width + total_width
  if live ~= "" and stamp == log.newest then
    live = sub(live, 1, #live - width)
  end
  local count = #live / width
  log.newest, log.newest_total = stamp, advanced(log.newest_total, units, total_width)
  log.first, log.last, log.asked = 0, count + 1, nil
  log.slots = log.last + floor(count / 8)
  local spare = string.rep("\0", (log.slots - log.last) * width)
  log.read = pack_header(log) .. live .. pack_entry(log, stamp, log.newest_total) .. spare
  call("SET", log.key, log.read)
end

-- Writes entries in place, from an index on, and the header.
local function overwrite(log, index, packed)
  call("SETRANGE", log.key, "0", pack_header(log))
  call("SETRANGE", log.key, text_of(offset_of(log, index)), packed)
  log.read = ""
end

-- Forgets all units stamped at or before `expired`, and adds units at an instant not before the newest stamp.
function stamp_log.append(log, expired, stamp, units)
  local first = first_after(log, expired)
  log.base_total = total_at(log, first - 1)
  log.first = first
  local fits = first < log.last and stamp_log.units(log) + units < circle(log.total_width)
  local merges = stamp == log.newest
  if not fits or (not merges and log.last == log.slots) then
    rewrite(log, stamp, units)
    return
  end
  log.newest_total = advanced(log.newest_total, units, log.total_width)
  if not merges then
    log.newest, log.last = stamp, log.last + 1
  end
  overwrite(log, log.last - 1, pack_entry(log, stamp, log.newest_total))
end

-- Takes back up to `units` that carry exactly this stamp. Costs a step for each later entry.
function stamp_log.take(log, stamp, units)
  local index = first_after(log, stamp - 1)
  if index == log.last or stamp_at(log, index) ~= stamp then
    return false
  end
  local held = (total_at(log, index) - total_at(log, index - 1)) % circle(log.total_width)
  local taken = min(units, held)
  local removed = taken == held and 1 or 0
  local later = entries(log, index + removed, log.last)
  local width = log.stamp_width + log.total_width
  local packed = {}
  for skipped = 0, #later - width, width do
    local total = number_in(later, skipped + log.stamp_width, log.total_width) - taken
    local total_bytes = bytes_of(total % circle(log.total_width), log.total_width)
    packed[#packed + 1] = sub(later, skipped + 1, skipped + log.stamp_width) .. total_bytes
  end
  if #packed == 0 and index > log.first and removed == 1 then
    log.newest = stamp_at(log, index - 1)
  end
  log.newest_total = (log.newest_total - taken) % circle(log.total_width)
  log.asked = nil
  log.last = log.last - removed
  overwrite(log, index, table.concat(packed))
  return true
end

return stamp_log
