-- A charge that is a batch of its own, of a plain policy that holds nobody: most are, so they have a straight way.
-- Returns 0 when admitted and else the wait (-1: never), remaining, reset, the receipt's mark, and how far the
-- receipt's instant lies ahead of the call's.

local function commit_foreign(key, policy, cost)
  local charge = { key = key, policy = policy, cost = cost, next_ms = -1, at = -1, mark = 0 }
  local told = decide({ charges = { charge }, size = 1, capital = false, mode = "c" })
  local allowed, remaining, retry_ms, reset_ms, at, mark = told[1], told[2], told[3], told[5], told[7], told[8]
  if allowed == 0 then
    return retry_ms, remaining, reset_ms, 0, 0
  end
  return 0, remaining, reset_ms, mark, at - now_ms
end

local function commit_one(key, policy, cost)
  local algorithm = policy.algorithm
  local state, foreign = algorithm.load(key, policy)
  if foreign then
    return commit_foreign(key, policy, cost)
  end
  local allowed, remaining, retry_ms, reset_ms = algorithm.measure(policy, state, now_ms, cost)
  if not allowed then
    heal({ key = key, keeper = policy, state = state })
    return retry_ms == never and -1 or retry_ms, remaining, reset_ms, 0, 0
  end
  state = state or algorithm.create(key, policy)
  local at, mark = algorithm.spend(policy, state, now_ms, cost)
  keep(key, policy, state)
  local _, left, _, rest_ms = algorithm.measure(policy, state, now_ms, 0)
  return 0, left, rest_ms, mark, at - now_ms
end
