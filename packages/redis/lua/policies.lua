-- Policies, as a call names them and as states tell of them.

local algorithm_names = {
  f = "fixed-window",
  w = "sliding-window",
  c = "sliding-window-counter",
  t = "token-bucket",
  l = "leaky-bucket",
}

-- A policy of texts. `form` and `suffix` are what its states begin and end with.
local function policy_of(tag, limit, window_ms, extra, version)
  local algorithm = need(algorithm_names[tag])
  local form = version == "1" and tag .. window_ms or tag .. window_ms .. "v" .. version
  local suffix = algorithm.tells_extra and " " .. limit .. " " .. extra or " " .. limit
  local policy = {
    tag = tag,
    version = tonumber(version),
    algorithm = algorithm,
    limit = tonumber(limit),
    window_ms = tonumber(window_ms),
    extra = tonumber(extra),
    form = form,
    suffix = suffix,
  }
  if algorithm.numbers then
    policy.pattern = "^" .. form .. algorithm.numbers .. suffix .. "$"
  else
    policy.head = form .. suffix .. "\n"
  end
  return policy
end

-- A policy of a capacity that is larger by some units.
local function enlarged(policy, units)
  local larger = policy.algorithm.tells_extra and "extra" or "limit"
  local made = { limit = policy.limit, window_ms = policy.window_ms, extra = policy.extra }
  made[larger] = made[larger] + units
  return made
end
