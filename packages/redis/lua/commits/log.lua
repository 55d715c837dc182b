-- A batch of one charge on a log, straight. See run.lua.
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
