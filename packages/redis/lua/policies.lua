-- Policies with their algorithms, as a call names them and as states tell of them.

local algorithm_names = {
  f = "fixed-window",
  w = "sliding-window",
  c = "sliding-window-counter",
  t = "token-bucket",
  l = "leaky-bucket",
}

-- A window as texts tell it: in its largest whole unit, as in "1h" and "90s", or in ms, as in "1500".
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

-- A policy of a capacity that is larger by some units.
local function enlarged(policy, units)
  local larger = policy.algorithm.tells_extra and "extra" or "limit"
  local made = { limit = policy.limit, window_ms = policy.window_ms, extra = policy.extra }
  made[larger] = made[larger] + units
  return made
end
