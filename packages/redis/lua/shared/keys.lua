-- Keys: which is next, what it holds, and when it is to expire.

local function next_key()
  keys_read = keys_read + 1
  return KEYS[keys_read]
end

local function ttl_until(expires_at)
  return max(1, expires_at - now_ms + grace_ms)
end

-- The state of a policy, and else the text of one that was written under another policy of the name.
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
