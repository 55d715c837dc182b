-- Runs of charges that are batches of their own, of one plain policy that holds nobody, with one cost. Most charges
-- are such, so they have a straight way: it makes no tables, and needs little of the script. What it cannot admit
-- goes the way of all other batches: what is refused, and what another policy has written.
--
-- Of each charge five numbers: 0 when it is admitted and else the wait (-1: never), remaining, reset, the receipt's
-- mark, and how far the receipt's instant lies ahead of the call's.

-- What a run is of.
local policy, cost, take

local function commit_batch(key)
  local charge = { key = key, policy = with_algorithm(policy), cost = cost, next_ms = -1, at = -1, mark = 0 }
  local told = need("batches").decide({ charges = { charge }, size = 1, capital = false, mode = "c" })
  local allowed, remaining, retry_ms, reset_ms, at, mark = told[1], told[2], told[3], told[5], told[7], told[8]
  if allowed == 0 then
    return retry_ms, remaining, reset_ms, 0, 0
  end
  return 0, remaining, reset_ms, mark, at - now_ms
end

-- Of a state of a few numbers. A key expires when the state is untouched again, which is what reset tells.
local function commit_numbers(key)
  local stored, first, second, third = call("GET", key), nil, nil, nil
  if stored then
    first, second, third = match(stored, policy.pattern)
    if not first then
      return commit_batch(key)
    end
    first, second, third = tonumber(first), tonumber(second), tonumber(third)
  end
  local remaining, reset_ms, at, mark
  remaining, reset_ms, at, mark, first, second, third = take(policy, now_ms, cost, first, second, third)
  if not remaining then
    return commit_batch(key)
  end
  keep_numbers(key, policy, max(1, reset_ms + grace_ms), first, second, third)
  return 0, remaining, reset_ms, mark, at - now_ms
end

local function commit_log(key)
  local algorithm = policy.algorithm
  local log, foreign = algorithm.load(key, policy)
  if foreign or not algorithm.measure(policy, log, now_ms, cost) then
    return commit_batch(key)
  end
  log = log or algorithm.create(key, policy)
  local at, mark = algorithm.spend(policy, log, now_ms, cost)
  algorithm.keep(key, policy, log, ttl_until(algorithm.expires_at(policy, log)))
  local _, remaining, _, reset_ms = algorithm.measure(policy, log, now_ms, 0)
  return 0, remaining, reset_ms, mark, at - now_ms
end

local function commit_of_run()
  if number_counts[policy.tag] then
    take = need("take-" .. algorithm_names[policy.tag])
    return commit_numbers
  end
  with_algorithm(policy)
  return commit_log
end

local function decide_run(size)
  policy, cost = policies[next_text()], next_number()
  local commit = commit_of_run()
  local told, last, keys_before = {}, 0, keys_read
  keys_read = keys_read + size
  local function commit_rest()
    for place = last / 5 + 1, size do
      told[last + 1], told[last + 2], told[last + 3], told[last + 4], told[last + 5] =
        commit(KEYS[keys_before + place])
      last = last + 5
      decided = true
    end
  end
  while last < 5 * size do
    local succeeded, raised = pcall(commit_rest)
    if not succeeded then
      local text, fails_all = failure(raised)
      if fails_all then
        return nil, text
      end
      told[last + 1], told[last + 2], told[last + 3], told[last + 4], told[last + 5] = text, 0, 0, 0, 0
      last = last + 5
    end
  end
  return told
end
