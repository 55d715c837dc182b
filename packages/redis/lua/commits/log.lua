-- A charge of a run on a log: see run.lua.
return function(key)
  local algorithm = with_algorithm(policy).algorithm
  local log, foreign = algorithm.load(key, policy)
  if foreign or not algorithm.measure(policy, log, now_ms, cost) then
    return need("commit-batch")(key)
  end
  log = log or algorithm.create(key, policy)
  local at, mark = algorithm.spend(policy, log, now_ms, cost)
  algorithm.keep(key, policy, log, ttl_until(algorithm.expires_at(policy, log)))
  local _, remaining, _, reset_ms = algorithm.measure(policy, log, now_ms, 0)
  return admitted(remaining, reset_ms, at, mark)
end
