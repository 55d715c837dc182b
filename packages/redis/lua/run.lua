-- Runs of charges that are batches of their own, of one plain policy that holds nobody, with one cost. Most charges
-- are such, so they have a straight way: it makes no tables, and needs little of the script. What it cannot admit
-- goes the way of all other batches: what is refused, and what another policy has written.
--
-- A run is answered with one text, which clients read several times faster than numbers: a line for each charge.
-- Admitted: remaining and reset, from which the receipt's mark follows; but where its instant lies ahead of the
-- call's, remaining, reset, mark and by how much. Refused: -1 less remaining, reset, and the wait, -1 for never.

-- What a run is of.
local policy, cost, take

local two = digits .. " " .. digits
local four = two .. " " .. two

local function admitted(remaining, reset_ms, at, mark)
  if at == now_ms then
    return format(two, remaining, reset_ms)
  end
  return format(four, remaining, reset_ms, mark, at - now_ms)
end

local function commit_batch(key)
  local charge = { key = key, policy = with_algorithm(policy), cost = cost, next_ms = -1, at = -1, mark = 0 }
  local told = need("batches").decide({ charges = { charge }, size = 1, capital = false, mode = "c" })
  local allowed, remaining, retry_ms, reset_ms, at, mark = told[1], told[2], told[3], told[5], told[7], told[8]
  if allowed == 0 then
    return format(two, -1 - remaining, reset_ms) .. " " .. text_of(retry_ms)
  end
  return admitted(remaining, reset_ms, at, mark)
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
  return admitted(remaining, reset_ms, at, mark)
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
  return admitted(remaining, reset_ms, at, mark)
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
  local lines = {}
  local end_of_run = keys_read + size
  local function commit_rest()
    while keys_read < end_of_run do
      lines[#lines + 1] = commit(next_key())
      decided = true
    end
  end
  -- An error ends the loop behind the key that it belongs to.
  while keys_read < end_of_run do
    local succeeded, raised = pcall(commit_rest)
    if not succeeded then
      local text, fails_all = failure(raised)
      if fails_all then
        return nil, text
      end
      lines[#lines + 1] = string.gsub(text, "%c", " ")
    end
  end
  return table.concat(lines, "\n")
end
