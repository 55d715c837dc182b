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

local function admitted(remaining, reset_ms, at, mark)
  if at == now_ms then
    return format(two, remaining, reset_ms)
  end
  return format(two .. " " .. two, remaining, reset_ms, mark, at - now_ms)
end

-- Of a state of a few numbers. A key expires when the state is untouched again, which is what reset tells.
local function commit_numbers(key)
  local stored, first, second, third = call("GET", key), nil, nil, nil
  if stored then
    first, second, third = match(stored, policy.pattern)
    if not first then
      return need("commit-batch")(key)
    end
    first, second, third = tonumber(first), tonumber(second), tonumber(third)
  end
  local remaining, reset_ms, at, mark
  remaining, reset_ms, at, mark, first, second, third = take(policy, now_ms, cost, first, second, third)
  if not remaining then
    return need("commit-batch")(key)
  end
  keep_numbers(key, policy, max(1, reset_ms + grace_ms), first, second, third)
  return admitted(remaining, reset_ms, at, mark)
end

local function decide_run(size)
  policy, cost = policies[next_number()], next_number()
  take = take_of(policy.tag)
  local commit = take and commit_numbers or need("commit-log")
  local lines = {}
  local end_of_run = keys_read + size
  local function commit_rest()
    while keys_read < end_of_run do
      keys_read = keys_read + 1
      lines[#lines + 1] = commit(KEYS[keys_read])
      decided = true
    end
  end
  -- An error ends the loop behind the key that it belongs to.
  while keys_read < end_of_run do
    local succeeded, raised = pcall(commit_rest)
    if not succeeded then
      local text, fails_all = need("failure")(raised)
      if fails_all then
        return nil, text
      end
      lines[#lines + 1] = string.gsub(text, "%c", " ")
    end
  end
  return table.concat(lines, "\n")
end
