-- Time and how the call asks for it. ARGV begins with:
--   not_after_ms  the last instant, in the server's own time, at which the call may still run
--   now_ms        an injected instant for tests, or ""
--   grace_ms      added to every TTL, since Redis expires in real time while an injected clock stands still
-- ARGV is read once, in order, by next_number and next_text.

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
