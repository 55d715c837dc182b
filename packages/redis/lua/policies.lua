-- Policies, as a call names them and as states tell of them.

-- By tag, made when they are first asked for; the script's build names the makers.
local algorithms = setmetatable({}, {
  __index = function(known, tag)
    local make = makers[tag]
    known[tag] = make and make() or false
    return known[tag]
  end,
})

-- A policy of texts. `form` and `suffix` are what its states begin and end with.
local function policy_of(tag, limit, window_ms, extra, version)
  local algorithm = algorithms[tag]
  local form = version == "1" and tag .. window_ms or tag .. window_ms .. "v" .. version
  local suffix = algorithm.tells_extra and " " .. limit .. " " .. extra or " " .. limit
  local policy = {
    tag = tag,
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

-- The policy with a capacity that is larger by its debt.
local function indebted(policy)
  local larger = policy.algorithm.tells_extra and "extra" or "limit"
  local enlarged = { limit = policy.limit, window_ms = policy.window_ms, extra = policy.extra }
  enlarged[larger] = enlarged[larger] + policy.debt
  return enlarged
end
