-- Policies, as a call names them and as states tell of them.

local algorithm_names = {
  f = "fixed-window",
  w = "sliding-window",
  c = "sliding-window-counter",
  t = "token-bucket",
  l = "leaky-bucket",
}

-- How many numbers a state is; a log is more than numbers.
local number_counts = { f = 2, c = 3, t = 2, l = 2 }

-- A window as texts tell it: in its largest whole unit, as in "1h" and "90s", or in ms, as in "1500".
local unit_ms = { d = 86400000, h = 3600000, m = 60000, s = 1000, [""] = 1 }

local function window_ms_of(window)
  local count, unit = match(window, "^(%d+)(%a?)$")
  return count * unit_ms[unit]
end

-- What texts say of a policy. `form` is what its states begin with; `pattern` reads their numbers, `layout` writes
-- them; a log has a `head` instead.
local function terms_of(tag, limit, window, extra, version)
  local form = version == "1" and tag .. window or tag .. window .. "v" .. version
  local suffix = (tag == "t" or tag == "l") and " " .. limit .. " " .. extra or " " .. limit
  local policy = {
    tag = tag,
    limit = tonumber(limit),
    window = window,
    window_ms = window_ms_of(window),
    extra = tonumber(extra),
    form = form,
  }
  local count = number_counts[tag]
  if count then
    policy.pattern = "^" .. form .. string.rep(" (%d+)", count) .. suffix .. "$"
    policy.layout = form .. string.rep(" " .. digits, count) .. suffix
  else
    policy.head = form .. suffix .. "\n"
  end
  return policy
end

local function with_algorithm(policy)
  policy.algorithm = need(algorithm_names[policy.tag])
  return policy
end

local function policy_of(tag, limit, window, extra, version)
  local policy = with_algorithm(terms_of(tag, limit, window, extra, version))
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
