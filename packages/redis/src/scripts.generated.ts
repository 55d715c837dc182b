// Built from lua/ by scripts/build-lua.mjs; not to be edited.

/** The SHA-1 of the script, by which EVALSHA names it. */
export const scriptSha: string = "987d08813a0687f93486ae293b6aad1f5121e0b2";

/** The one script of the store. */
export const script: string = `local call, error_reply = redis.call, redis.error_reply
local floor, ceil, max, min = math.floor, math.ceil, math.max, math.min
local format, match, sub = string.format, string.match, string.sub
local never = math.huge
local digits = format("%d", 2 ^ 52) == "4503599627370496" and "%d" or "%.0f"
local function text_of(number)
return format(digits, number)
end
local position = 0
local function next_text()
position = position + 1
return ARGV[position]
end
local function next_number()
return tonumber(next_text())
end
local server_time = call("TIME")
local server_ms = server_time[1] * 1000 + floor(server_time[2] / 1000)
local not_after_ms = next_number()
local now_ms = tonumber(next_text()) or server_ms
local grace_ms = next_number()
local policies = {}
local keys_read = 0
local decided = false
local parts, make_parts
local made = {}
local function need(name)
local part = made[name]
if not part then
parts = parts or make_parts()
part = parts[name]()
made[name] = part
end
return part
end
local function keep_numbers(key, keeper, ttl_ms, first, second, third)
call("SET", key, format(keeper.layout, first, second, third), "PX", text_of(ttl_ms))
end
local number_counts = { f = 2, c = 3, t = 2, l = 2 }
local function terms_of(tag, limit, window, window_ms, extra, version)
local form = version == "1" and tag .. window or tag .. window .. "v" .. version
local suffix = (tag == "t" or tag == "l") and " " .. limit .. " " .. extra or " " .. limit
local policy = {
tag = tag,
limit = tonumber(limit),
window = window,
window_ms = tonumber(window_ms),
extra = tonumber(extra),
form = form,
}
local count = number_counts[tag]
if count then
policy.pattern = "^" .. form .. string.rep(" (%d+)", count) .. suffix .. "$"
policy.layout = form .. string.rep(" " .. digits, count) .. suffix
else
policy.head = form .. suffix .. "\\n"
end
return policy
end
local function take_of(tag)
if tag == "f" then
return function(policy, now, cost, start_ms, count)
local limit, window_ms = policy.limit, policy.window_ms
if not start_ms or count == 0 or now >= start_ms + window_ms then
start_ms, count = policy.extra == 1 and now or now - now % window_ms, 0
end
local used = count + cost
if used > limit or now < start_ms then
return nil
end
return limit - used, start_ms + window_ms - now, start_ms, used
end
end
if tag == "c" then
return function(policy, now, cost, stored_index, current, previous)
local limit, window_ms = policy.limit, policy.window_ms
local index = floor(now / window_ms)
if not stored_index or current + previous == 0 then
current, previous = 0, 0
elseif index < stored_index then
return nil
elseif index > stored_index then
current, previous = 0, index - 1 == stored_index and current or 0
end
local rest_ms, used = window_ms - now % window_ms, current + cost
local weighed = previous * rest_ms
if used > limit or weighed > (limit - used) * window_ms then
return nil
end
return limit - used - ceil(weighed / window_ms), window_ms + rest_ms, index, used, previous
end
end
if tag == "t" then
return function(policy, now, cost, units, at_ms)
local limit, window_ms, burst = policy.limit, policy.window_ms, policy.extra
local owed = 0
if units and units > 0 then
local elapsed_ms = now - at_ms
if elapsed_ms < 0 then
return nil
end
owed = elapsed_ms < ceil(units / limit) and units - elapsed_ms * limit or 0
end
local room = burst * window_ms - owed
if cost > burst or cost * window_ms > room then
return nil
end
owed, room = owed + cost * window_ms, room - cost * window_ms
return floor(room / window_ms), ceil(owed / limit), owed, now
end
end
end
local charged
local two = digits .. " " .. digits
local function taken(key, charge)
local stored, policy = call("GET", key), charge.policy
if not stored then
return charge.take(policy, now_ms, charge.cost)
end
local first, second, third = match(stored, policy.pattern)
if not first then
return nil
end
return charge.take(policy, now_ms, charge.cost, tonumber(first), tonumber(second), tonumber(third))
end
local function ttl_of(reset_ms)
return max(1, reset_ms + grace_ms)
end
local function commit_one(before)
local key, charge = KEYS[before + 1], charged[1]
local remaining, reset_ms, first, second, third = taken(key, charge)
if not remaining then
return need("commit-batch")(before)
end
keep_numbers(key, charge.policy, ttl_of(reset_ms), first, second, third)
return format(two, remaining, reset_ms)
end
local function decide_run(size, width)
charged = {}
for place = 1, width do
local policy = policies[next_number()]
charged[place] = { policy = policy, cost = next_number(), take = take_of(policy.tag) }
end
local commit = width > 1 and need("commit-several") or charged[1].take and commit_one or need("commit-log")
local lines = {}
local end_of_run = keys_read + size * width
local function commit_rest()
while keys_read < end_of_run do
keys_read = keys_read + width
lines[#lines + 1] = commit(keys_read - width)
decided = true
end
end
while keys_read < end_of_run do
local succeeded, raised = pcall(commit_rest)
if not succeeded then
local text, fails_all = need("failure")(raised)
if fails_all then
return nil, text
end
lines[#lines + 1] = string.gsub(text, "%c", " ")
end
end
return table.concat(lines, "\\n")
end
function make_parts()
parts = {}
local function next_key()
keys_read = keys_read + 1
return KEYS[keys_read]
end
local function ttl_until(expires_at)
return max(1, expires_at - now_ms + grace_ms)
end
local function load_text(key, policy)
local stored = call("GET", key)
if not stored then
return nil
end
local first, second, third = match(stored, policy.pattern)
if not first then
return nil, stored
end
return policy.algorithm.state_of(first, second, third)
end
local algorithm_names = {
f = "fixed-window",
w = "sliding-window",
c = "sliding-window-counter",
t = "token-bucket",
l = "leaky-bucket",
}
local unit_ms = { d = 86400000, h = 3600000, m = 60000, s = 1000, [""] = 1 }
local function window_ms_of(window)
local count, unit = match(window, "^(%d+)(%a?)$")
return count * unit_ms[unit]
end
local function with_algorithm(policy)
policy.algorithm = need(algorithm_names[policy.tag])
return policy
end
local function policy_of(tag, limit, window, extra, version)
local policy = with_algorithm(terms_of(tag, limit, window, window_ms_of(window), extra, version))
policy.version = tonumber(version)
return policy
end
local function enlarged(policy, units)
local larger = policy.algorithm.tells_extra and "extra" or "limit"
local made = { limit = policy.limit, window_ms = policy.window_ms, extra = policy.extra }
made[larger] = made[larger] + units
return made
end
parts["failure"] = function()
return function(raised)
local text = type(raised) == "table" and raised.err or tostring(raised)
text = match(text, "(%u%u+ .*)") or text
local code = match(text, "^%u+")
return text, not decided and code and code ~= "WRONGTYPE" and code ~= "ERR"
end
end
parts["owed"] = function()
local owed = {}
function owed.instant_of(state, now)
if state == nil or state.units == 0 then
return now
end
return max(now, state.at_ms)
end
function owed.at(state, limit, instant)
if state == nil then
return 0
end
local elapsed_ms = instant - state.at_ms
if elapsed_ms >= ceil(state.units / limit) then
return 0
end
return state.units - elapsed_ms * limit
end
function owed.create()
return { units = 0, at_ms = 0 }
end
function owed.state_of(units, at_ms)
return { units = tonumber(units), at_ms = tonumber(at_ms) }
end
function owed.keep(key, keeper, state, ttl_ms)
keep_numbers(key, keeper, ttl_ms, state.units, state.at_ms)
end
function owed.expires_at(policy, state)
if state.units == 0 then
return 0
end
return state.at_ms + ceil(state.units / policy.limit)
end
return owed
end
parts["stamp-log"] = function()
local stamp_log = {}
local byte, char = string.byte, string.char
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
local function width_for(count)
local width, told_apart = 1, 256
while told_apart < count do
width, told_apart = width + 1, told_apart * 256
end
return width
end
local counter_bytes = 35
local first_read_bytes = 128
local function circle(total_width)
return min(256 ^ total_width, 2 ^ 53)
end
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
local function total_at(log, index)
if index == log.last - 1 then
return log.newest_total
end
if index == log.first - 1 then
return log.base_total
end
return number_in(entries(log, index, index + 1), log.stamp_width, log.total_width)
end
local function units_behind(log, index)
return (log.newest_total - total_at(log, index)) % circle(log.total_width)
end
local function units_through(log, index)
return (total_at(log, index) - log.base_total) % circle(log.total_width)
end
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
function stamp_log.filled(key, policy, stamp, units)
local log = stamp_log.create(key, policy)
log.total_width = max(log.total_width, width_for(units + 1))
log.newest, log.newest_total = stamp, units
log.last, log.slots = 1, 1
log.read = pack_header(log) .. pack_entry(log, stamp, units)
log.unwritten = true
return log
end
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
function stamp_log.units(log)
return log.first == log.last and 0 or units_behind(log, log.first - 1)
end
function stamp_log.units_after(log, instant)
return units_behind(log, first_after(log, instant) - 1)
end
function stamp_log.stamp_of_unit(log, n)
return stamp_at(log, search(log, reaches, n))
end
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
local spare = string.rep("\\0", (log.slots - log.last) * width)
log.read = pack_header(log) .. live .. pack_entry(log, stamp, log.newest_total) .. spare
call("SET", log.key, log.read)
end
local function overwrite(log, index, packed)
call("SETRANGE", log.key, "0", pack_header(log))
call("SETRANGE", log.key, text_of(offset_of(log, index)), packed)
log.read = ""
end
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
end
parts["commit-batch"] = function()
local numbers_of_outcome = 8
return function(before)
local charges = {}
for place, charge in ipairs(charged) do
charges[place] = {
key = KEYS[before + place],
policy = with_algorithm(charge.policy),
cost = charge.cost,
next_ms = -1,
at = -1,
mark = 0,
}
end
local numbers = need("batches").decide({ charges = charges, size = #charges, capital = false, mode = "c" })
return format("=" .. string.rep(" " .. digits, numbers_of_outcome * #charges), unpack(numbers))
end
end
parts["commit-several"] = function()
local told = {}
return function(before)
for place, charge in ipairs(charged) do
local remaining, reset_ms, first, second, third = taken(KEYS[before + place], charge)
if not remaining then
return need("commit-batch")(before)
end
told[place] = format(two, remaining, reset_ms)
charge.ttl_ms, charge.first, charge.second, charge.third = ttl_of(reset_ms), first, second, third
end
for place, charge in ipairs(charged) do
keep_numbers(KEYS[before + place], charge.policy, charge.ttl_ms, charge.first, charge.second, charge.third)
end
return table.concat(told, " ", 1, #charged)
end
end
parts["commit-log"] = function()
return function(before)
local key, policy, cost = KEYS[before + 1], charged[1].policy, charged[1].cost
local algorithm = with_algorithm(policy).algorithm
local log, foreign = algorithm.load(key, policy)
if foreign or log and log.newest > now_ms or not algorithm.measure(policy, log, now_ms, cost) then
return need("commit-batch")(before)
end
log = log or algorithm.create(key, policy)
algorithm.spend(policy, log, now_ms, cost)
algorithm.keep(key, policy, log, ttl_until(algorithm.expires_at(policy, log)))
local _, remaining, _, reset_ms = algorithm.measure(policy, log, now_ms, 0)
return format(two, remaining, reset_ms)
end
end
parts["fixed-window"] = function()
local fixed_window = {
load = load_text,
}
local function window_start(policy, now)
if policy.extra == 1 then
return now
end
return now - now % policy.window_ms
end
local function live_window(policy, state, now)
if state == nil or state.count == 0 then
return nil
end
if now < state.start_ms + policy.window_ms then
return state
end
return nil
end
function fixed_window.capacity(policy)
return policy.limit
end
function fixed_window.create()
return { start_ms = 0, count = 0 }
end
function fixed_window.state_of(start_ms, count)
return { start_ms = tonumber(start_ms), count = tonumber(count) }
end
function fixed_window.keep(key, keeper, state, ttl_ms)
keep_numbers(key, keeper, ttl_ms, state.start_ms, state.count)
end
function fixed_window.measure(policy, state, now, cost)
local limit, window_ms = policy.limit, policy.window_ms
local live = live_window(policy, state, now)
local used = live and live.count or 0
local allowed = cost == 0 or used + cost <= limit
local end_ms = (live and live.start_ms or window_start(policy, now)) + window_ms
local retry_ms = 0
if cost > limit then
retry_ms = never
elseif not allowed then
retry_ms = end_ms - now
end
return allowed, max(0, limit - used), retry_ms, used > 0 and end_ms - now or 0, 0
end
function fixed_window.spend(policy, state, now, cost)
if live_window(policy, state, now) == nil then
state.start_ms = window_start(policy, now)
state.count = 0
end
state.count = state.count + cost
return max(now, state.start_ms), state.start_ms
end
function fixed_window.refund(policy, state, receipt, now)
if state.start_ms ~= receipt.mark then
return false
end
state.count = max(0, state.count - receipt.part)
return true
end
function fixed_window.expires_at(policy, state)
return state.count > 0 and state.start_ms + policy.window_ms or 0
end
return fixed_window
end
parts["sliding-window"] = function()
local stamp_log = need("stamp-log")
local sliding_window = {
create = stamp_log.create,
filled = stamp_log.filled,
load = stamp_log.load,
unpack = stamp_log.unpack,
}
function sliding_window.capacity(policy)
return policy.limit
end
function sliding_window.keep(key, keeper, log, ttl_ms)
stamp_log.write_under(log, keeper)
call("PEXPIRE", key, text_of(ttl_ms))
end
function sliding_window.measure(policy, log, now, cost)
local limit, window_ms = policy.limit, policy.window_ms
local instant = log and max(now, log.newest) or now
local used = log and stamp_log.units_after(log, instant - window_ms) or 0
local excess = used + cost - limit
local allowed = cost == 0 or excess <= 0
local retry_ms = 0
if cost > limit then
retry_ms = never
elseif not allowed then
local unit = stamp_log.units(log) - used + excess
retry_ms = stamp_log.stamp_of_unit(log, unit) + window_ms - now
end
local reset_ms = used > 0 and log.newest + window_ms - now or 0
return allowed, max(0, limit - used), retry_ms, reset_ms, 0
end
function sliding_window.spend(policy, log, now, cost)
local at = max(now, log.newest)
stamp_log.append(log, at - policy.window_ms, at, cost)
return at, 0
end
function sliding_window.refund(policy, log, receipt, now)
local instant = max(now, log.newest)
if receipt.at <= instant - policy.window_ms then
return false
end
return stamp_log.take(log, receipt.at, receipt.part)
end
function sliding_window.expires_at(policy, log)
return stamp_log.units(log) > 0 and log.newest + policy.window_ms or 0
end
return sliding_window
end
parts["sliding-window-counter"] = function()
local sliding_window_counter = {
load = load_text,
}
local function instant_of(policy, state, now)
if state == nil or state.current + state.previous == 0 then
return now
end
return max(now, state.index * policy.window_ms)
end
local function count_of(state, index)
if state == nil then
return 0
end
if index == state.index then
return state.current
end
return index == state.index - 1 and state.previous or 0
end
local function wait_for(room, window_ms, current, previous, rest_ms)
if current <= room and previous > 0 then
local wait_ms = ceil((previous * rest_ms - (room - current) * window_ms) / previous)
if wait_ms < rest_ms then
return wait_ms
end
end
local into_next_ms = 0
if current > 0 then
into_next_ms = ceil((current * window_ms - room * window_ms) / current)
end
return rest_ms + max(0, into_next_ms)
end
function sliding_window_counter.capacity(policy)
return policy.limit
end
function sliding_window_counter.create()
return { index = 0, current = 0, previous = 0 }
end
function sliding_window_counter.state_of(index, current, previous)
return { index = tonumber(index), current = tonumber(current), previous = tonumber(previous) }
end
function sliding_window_counter.keep(key, keeper, state, ttl_ms)
keep_numbers(key, keeper, ttl_ms, state.index, state.current, state.previous)
end
function sliding_window_counter.measure(policy, state, now, cost)
local limit, window_ms = policy.limit, policy.window_ms
local instant = instant_of(policy, state, now)
local index = floor(instant / window_ms)
local current = count_of(state, index)
local previous = count_of(state, index - 1)
local rest_ms = window_ms - instant % window_ms
local late_ms = instant - now
local weighed = previous * rest_ms
local allowed = cost == 0 or (cost <= limit and weighed <= (limit - current - cost) * window_ms)
local retry_ms = 0
if cost > limit then
retry_ms = never
elseif not allowed then
retry_ms = late_ms + wait_for(limit - cost, window_ms, current, previous, rest_ms)
end
local reset_ms = 0
if current > 0 then
reset_ms = late_ms + window_ms + rest_ms
elseif previous > 0 then
reset_ms = late_ms + rest_ms
end
local remaining = max(0, limit - current - ceil(weighed / window_ms))
return allowed, remaining, retry_ms, reset_ms, 0
end
function sliding_window_counter.spend(policy, state, now, cost)
local at = instant_of(policy, state, now)
local index = floor(at / policy.window_ms)
local current = count_of(state, index)
state.previous = count_of(state, index - 1)
state.current = current + cost
state.index = index
return at, index
end
function sliding_window_counter.refund(policy, state, receipt, now)
if receipt.mark == state.index then
state.current = max(0, state.current - receipt.part)
elseif receipt.mark == state.index - 1 then
state.previous = max(0, state.previous - receipt.part)
else
return false
end
return true
end
function sliding_window_counter.expires_at(policy, state)
local start_ms = state.index * policy.window_ms
if state.current > 0 then
return start_ms + 2 * policy.window_ms
end
return state.previous > 0 and start_ms + policy.window_ms or 0
end
return sliding_window_counter
end
parts["token-bucket"] = function()
local owed = need("owed")
local token_bucket = {
tells_extra = true,
create = owed.create,
state_of = owed.state_of,
load = load_text,
keep = owed.keep,
expires_at = owed.expires_at,
}
function token_bucket.capacity(policy)
return policy.extra
end
function token_bucket.measure(policy, state, now, cost)
local limit, window_ms, burst = policy.limit, policy.window_ms, policy.extra
local instant = owed.instant_of(state, now)
local late_ms = instant - now
local units = owed.at(state, limit, instant)
local full = burst * window_ms
local excess = cost > burst and never or units + cost * window_ms - full
local allowed = cost == 0 or excess <= 0
local remaining = max(0, floor((full - units) / window_ms))
local retry_ms = allowed and 0 or late_ms + ceil(excess / limit)
return allowed, remaining, retry_ms, units > 0 and late_ms + ceil(units / limit) or 0, 0
end
function token_bucket.spend(policy, state, now, cost)
local at = owed.instant_of(state, now)
state.units = owed.at(state, policy.limit, at) + cost * policy.window_ms
state.at_ms = at
return at, 0
end
function token_bucket.refund(policy, state, receipt, now)
local refill_ms = ceil((policy.extra * policy.window_ms) / policy.limit)
if owed.instant_of(state, now) - receipt.at >= refill_ms then
return false
end
state.units = max(0, state.units - receipt.part * policy.window_ms)
return true
end
return token_bucket
end
parts["leaky-bucket"] = function()
local owed = need("owed")
local leaky_bucket = {
tells_extra = true,
create = owed.create,
state_of = owed.state_of,
load = load_text,
keep = owed.keep,
expires_at = owed.expires_at,
}
function leaky_bucket.capacity(policy)
return policy.extra + 1
end
function leaky_bucket.measure(policy, state, now, cost)
local limit, window_ms, queue = policy.limit, policy.window_ms, policy.extra
local instant = owed.instant_of(state, now)
local late_ms = instant - now
local units = owed.at(state, limit, instant)
local longest = queue * window_ms
local excess = cost > queue + 1 and never or units + (cost - 1) * window_ms - longest
local allowed = cost == 0 or excess <= 0
local slot_ms = ceil(units / limit)
local remaining = max(0, floor((longest - units) / window_ms) + 1)
local retry_ms = allowed and 0 or late_ms + ceil(excess / limit)
local reset_ms = units > 0 and late_ms + slot_ms or 0
return allowed, remaining, retry_ms, reset_ms, (allowed and cost > 0) and slot_ms or 0
end
function leaky_bucket.spend(policy, state, now, cost)
local at = owed.instant_of(state, now)
state.units = owed.at(state, policy.limit, at) + cost * policy.window_ms
state.at_ms = at
return at, state.units
end
function leaky_bucket.refund(policy, state, receipt, now)
local before = receipt.mark - receipt.cost * policy.window_ms
local departure_ms = receipt.at + ceil(before / policy.limit)
local undisturbed = state.units == receipt.mark and state.at_ms == receipt.at
if undisturbed and owed.instant_of(state, now) <= departure_ms then
state.units = receipt.mark - receipt.part * policy.window_ms
return true
end
return false
end
return leaky_bucket
end
parts["batches"] = function()
local function wait_for_more(charge, remaining)
local policy = charge.policy
if remaining >= policy.algorithm.capacity(policy) then
return -1
end
local _, _, retry_ms = policy.algorithm.measure(policy, charge.state, now_ms, remaining + 1)
return retry_ms
end
local function ends_at(keeper, state)
return max(state and keeper.algorithm.expires_at(keeper, state) or 0, keeper.until_ms or 0)
end
local latest_end_ms = 2 ^ 54
local function find(charge, policy)
local state, foreign = policy.algorithm.load(charge.key, policy)
charge.keeper, charge.carried = policy, false
if foreign then
state = need("migration").carry_over(charge, foreign)
end
if not (ends_at(charge.keeper, state) <= latest_end_ms) then
state, charge.keeper, charge.carried = nil, policy, false
end
charge.state = state
if policy.on then
need("bans").load(charge)
end
return state
end
local function look(charge, want_next)
local policy = charge.policy
local state = find(charge, policy)
local allowed, remaining, retry_ms, reset_ms, delay_ms =
policy.algorithm.measure(policy, state, now_ms, charge.cost)
if policy.on and charge.ban_ms > 0 and charge.cost > 0 then
allowed = false
end
charge.allowed, charge.retry_ms, charge.delay_ms = allowed, retry_ms, delay_ms
charge.remaining, charge.reset_ms = remaining, reset_ms
if want_next then
charge.next_ms = wait_for_more(charge, remaining)
end
return allowed or policy.shadow
end
local function keep(key, keeper, state)
keeper.algorithm.keep(key, keeper, state, ttl_until(ends_at(keeper, state)))
end
local function look_at_rest(charge, policy, want_next)
local _, remaining, _, reset_ms = policy.algorithm.measure(policy, charge.state, now_ms, 0)
charge.remaining, charge.reset_ms = remaining, reset_ms
if want_next then
charge.next_ms = wait_for_more(charge, remaining)
end
end
local function spend(charge, want_next)
local policy = charge.policy
local algorithm = policy.algorithm
local state = charge.state or algorithm.create(charge.key, policy)
charge.state = state
charge.at, charge.mark = algorithm.spend(policy, state, now_ms, charge.cost)
keep(charge.key, charge.keeper, state)
look_at_rest(charge, policy, want_next)
end
local function heal(charge)
if charge.state and call("PTTL", charge.key) == -1 then
call("PEXPIRE", charge.key, text_of(ttl_until(ends_at(charge.keeper, charge.state))))
end
end
local function add_outcome(reply, size, charge)
reply[size + 1] = charge.allowed and 1 or 0
reply[size + 2] = charge.remaining
reply[size + 3] = charge.retry_ms == never and -1 or charge.retry_ms
reply[size + 4] = charge.next_ms
reply[size + 5] = charge.reset_ms
reply[size + 6] = charge.delay_ms
reply[size + 7] = charge.at
reply[size + 8] = charge.mark
end
local function counts_refusal(policy, admitted, mode)
return policy.on == "r" and (not policy.shadow or (admitted and mode == "c"))
end
local function decide(batch)
local charges, want_next, mode = batch.charges, batch.capital, batch.mode
local admitted, reply = true, {}
for place = 1, batch.size do
admitted = look(charges[place], want_next) and admitted
end
for place = 1, batch.size do
local charge = charges[place]
local policy = charge.policy
local remaining, reset_ms, next_ms = charge.remaining, charge.reset_ms, charge.next_ms
if mode ~= "p" then
if charge.carried then
keep(charge.key, charge.keeper, charge.state)
end
if admitted and charge.allowed and charge.cost > 0 then
spend(charge, want_next)
else
heal(charge)
end
end
if policy.on then
local bans = need("bans")
if mode ~= "p" and not charge.allowed and counts_refusal(policy, admitted, mode) then
bans.strike(charge)
end
bans.tell(charge, want_next)
if not charge.allowed then
charge.retry_ms = max(charge.retry_ms, charge.ban_ms)
end
end
add_outcome(reply, #reply, charge)
if mode == "l" then
local size = #reply
reply[size + 1], reply[size + 2], reply[size + 3] = remaining, reset_ms, next_ms
end
if policy.on then
reply[#reply + 1] = charge.ban_ms
end
end
return reply
end
parts["migration"] = function()
local migration = {}
local function remembering(policy, highest, until_ms)
local limit, extra, version = text_of(policy.limit), text_of(policy.extra), text_of(policy.version)
local made = policy_of(policy.tag, limit, policy.window, extra, version)
made.highest, made.until_ms = max(highest, policy.version), until_ms
local told = format(" ^%.0f %.0f", made.highest, until_ms)
if made.head then
made.head = sub(made.head, 1, -2) .. told .. "\\n"
else
made.layout = made.layout .. told
end
return made
end
function migration.kept_under(policy, highest, until_ms)
if highest > policy.version or until_ms > now_ms then
return remembering(policy, highest, until_ms)
end
return policy
end
function migration.held_in(key, stored)
local tag, window, version, at = match(stored, "^(%a)(%d+[dhms]?)v?(%d*) ()")
local name = algorithm_names[tag]
if not name then
return nil
end
local algorithm = need(name)
version = version == "" and "1" or version
local line = tag == "w" and match(stored, "^([%w ^]+)\\n") or stored
local numbers_end, highest, until_ms = match(line, "() ^(%d+) (%d+)$", at)
local told = sub(line, at, numbers_end and numbers_end - 1)
local limit, extra, state = told, "0", nil
if tag == "w" then
state = match(told, "^%d+$") and need("stamp-log").unpack(key, stored, line .. "\\n")
else
local numbers = { match(told, "^(%d+) (%d+) (%d+) ?(%d*)$") }
local kept = tag == "c" and 3 or 2
limit, extra = numbers[kept + 1], algorithm.tells_extra and numbers[4] or "0"
if limit and limit ~= "" and extra ~= "" then
state = algorithm.state_of(numbers[1], numbers[2], numbers[3])
end
end
if not state then
return nil
end
local held = policy_of(tag, limit, window, extra, version)
if highest then
held = remembering(held, tonumber(highest), tonumber(until_ms))
end
return held, state
end
local function scaled(used, to, from)
local part, whole = used % from, floor(used / from) * to
local quotient, rest = 0, 0
local bit = 2 ^ 52
while bit >= 1 do
quotient, rest = quotient * 2, rest * 2
if rest >= from then
quotient, rest = quotient + 1, rest - from
end
if floor(to / bit) % 2 == 1 then
rest = rest + part
if rest >= from then
quotient, rest = quotient + 1, rest - from
end
end
bit = bit / 2
end
return whole + (rest > 0 and quotient + 1 or quotient)
end
local largest = 2 ^ 53 - 1
local margin = 2 ^ 43
local function spare(policy)
local unit = policy.algorithm.tells_extra and policy.window_ms or 1
return floor((largest - max(policy.algorithm.capacity(policy) * unit, margin)) / unit)
end
local function most_used(policy)
return policy.tag == "c" and floor(largest / policy.window_ms) or spare(policy)
end
local function filled(key, policy, units, at)
local algorithm = policy.algorithm
if algorithm.filled then
return algorithm.filled(key, policy, at, units)
end
local state = algorithm.create(key, policy)
algorithm.spend(policy, state, at, units)
return state
end
local function held_instant(held, state)
if held.tag == "c" then
return state.index * held.window_ms
end
return state.start_ms or state.newest or state.at_ms
end
local function migrated(key, policy, held, state, rule)
local from, to = held.algorithm, policy.algorithm
if rule == "r" then
return nil
end
local queue = from == to and policy.tag == "l"
local kept = from == to and held.window_ms == policy.window_ms and rule == "k"
if kept and not (queue and held.limit ~= policy.limit) then
return state
end
local at = max(now_ms, held_instant(held, state))
if queue then
local _, _, _, reset_ms = from.measure(held, state, at, 0)
local units = min(reset_ms * policy.limit, most_used(policy) * policy.window_ms)
return { units = units, at_ms = at }
end
local roomy = enlarged(held, spare(held))
local _, remaining = from.measure(roomy, state, at, 0)
local used = from.capacity(roomy) - remaining
local units = rule == "s" and scaled(used, to.capacity(policy), from.capacity(held)) or used
return units > 0 and filled(key, policy, min(units, most_used(policy)), at) or nil
end
function migration.carry_over(charge, stored)
local policy = charge.policy
local held, state = migration.held_in(charge.key, stored)
if not held then
return nil
end
local ends_at, until_ms = held.algorithm.expires_at(held, state), held.until_ms or 0
local highest = max(ends_at, until_ms) > now_ms and (held.highest or held.version) or policy.version
local rule = highest < policy.version and policy.migrate or "k"
until_ms = rule == "k" and until_ms or max(until_ms, ends_at)
charge.keeper = migration.kept_under(policy, highest, until_ms)
if ends_at <= now_ms then
return nil
end
if held.form == policy.form then
return state
end
state = migrated(charge.key, policy, held, state, rule)
charge.carried = state ~= nil
return state
end
return migration
end
parts["bans"] = function()
local bans = {}
local function strikes_in(stored)
local start_ms, count, until_ms = match(stored or "", "^b(%d+) (%d+) (%d+)")
return { start_ms = tonumber(start_ms) or 0, count = tonumber(count) or 0, until_ms = tonumber(until_ms) or 0 }
end
local function keep_strikes(charge, strikes)
local window_end_ms = strikes.count > 0 and strikes.start_ms + charge.policy.within_ms or 0
local expires_at = max(strikes.until_ms, window_end_ms)
if expires_at <= now_ms then
call("DEL", charge.ban_key)
return
end
local numbers = format("b%.0f %.0f %.0f", strikes.start_ms, strikes.count, strikes.until_ms)
local stored = charge.told == "" and numbers or numbers .. " " .. charge.told
call("SET", charge.ban_key, stored, "PX", text_of(ttl_until(expires_at)))
end
function bans.load(charge)
local strikes = strikes_in(call("GET", charge.ban_key))
charge.strikes, charge.ban_ms = strikes, max(0, strikes.until_ms - now_ms)
end
function bans.strike(charge)
if charge.ban_ms > 0 then
return
end
local policy, strikes = charge.policy, charge.strikes
if strikes.count == 0 or now_ms >= strikes.start_ms + policy.within_ms then
strikes.start_ms, strikes.count = now_ms, 0
end
strikes.count = strikes.count + 1
if strikes.count >= policy.after then
strikes.until_ms, strikes.count = max(strikes.until_ms, now_ms + policy.ban_ms), 0
end
charge.ban_ms = max(0, strikes.until_ms - now_ms)
keep_strikes(charge, strikes)
end
function bans.tell(charge, want_next)
local ban_ms = charge.ban_ms
if ban_ms == 0 then
return
end
if want_next then
charge.next_ms = charge.remaining > 0 and ban_ms or max(charge.next_ms, ban_ms)
end
charge.remaining, charge.reset_ms = 0, max(charge.reset_ms, ban_ms)
charge.delay_ms = 0
end
function bans.k(batch)
for place = 1, batch.size do
bans.load(batch.charges[place])
end
for place = 1, batch.size do
bans.strike(batch.charges[place])
end
return {}
end
function bans.b(batch)
for place = 1, batch.size do
local charge = batch.charges[place]
local until_ms = charge.cost > 0 and now_ms + charge.cost or 0
keep_strikes(charge, { start_ms = 0, count = 0, until_ms = until_ms })
end
return {}
end
function bans.e(batch)
local reply = {}
for place = 1, batch.size do
local stored = redis.pcall("GET", batch.charges[place].ban_key)
stored = type(stored) == "string" and stored or ""
local size = #reply
reply[size + 1] = max(0, strikes_in(stored).until_ms - now_ms)
reply[size + 2] = "~" .. (match(stored, "^b%d+ %d+ %d+ (.*)$") or "")
end
return reply
end
return bans
end
parts["changes"] = function()
local changes = {}
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
local function find_charged(receipt)
local policy = receipt.policy
local state, foreign = policy.algorithm.load(receipt.key, policy)
local keeper = policy
if foreign then
keeper, state = need("migration").held_in(receipt.key, foreign)
if not keeper or keeper.tag ~= policy.tag or keeper.window_ms ~= policy.window_ms then
return nil
end
end
return state and keeper, state
end
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
end
local batches = { decide = decide }
local decided_modes = { c = decide, l = decide, p = decide }
local function handler_of(mode)
return decided_modes[mode] or need("changes")[mode] or need("bans")[mode]
end
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
end
return parts
end
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
return reply`;
