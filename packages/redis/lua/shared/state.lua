-- States of a few numbers, kept as one short text: the algorithm's tag, the window, and the numbers, as in
-- "t60000 600000 1700000000000". A state of another algorithm or window is never read as one of this.
-- Whatever a later format adds comes behind the numbers.

local function load_numbers(key, policy)
  local stored = call("GET", key)
  if not stored then
    return nil
  end
  local tag, window_ms, first, second, third = string.match(stored, "^(%a)(%d+) (%d+) (%d+) ?(%d*)")
  if tag ~= policy.tag or tonumber(window_ms) ~= policy.window_ms then
    return nil
  end
  return tonumber(first), tonumber(second), tonumber(third)
end

local function keep_two(key, policy, ttl_ms, first, second)
  local stored = format("%s%.0f %.0f %.0f", policy.tag, policy.window_ms, first, second)
  call("SET", key, stored, "PX", text_of(ttl_ms))
end

local function keep_three(key, policy, ttl_ms, first, second, third)
  local stored = format("%s%.0f %.0f %.0f %.0f", policy.tag, policy.window_ms, first, second, third)
  call("SET", key, stored, "PX", text_of(ttl_ms))
end
