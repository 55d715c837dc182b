-- Runs: batches of plain charges, of policies that hold nobody, ban nobody and always have a say. All batches of a
-- run charge the same policies with the same costs. Most batches are such, so they have a straight way: it makes
-- hardly a table, and needs little of the script. What it cannot admit goes the way of all other batches: what is
-- refused, what another policy has written, and what the clock has gone back behind.
--
-- A run is answered with one text, which clients read several times faster than numbers: a line for each batch. What
-- went the straight way: remaining and reset of each charge, from which its receipt follows. All else: "=" and the
-- numbers that any batch is answered with, or the text of the error that kept it from being decided.

-- What each batch of the run charges: { policy, cost, take }.
local charged

local two = digits .. " " .. digits

-- Remaining, reset and the numbers of the state after a charge; nil where the straight way is none.
local function taken(key, charge)
  local stored, policy = call("GET", key), charge.policy
  if not stored then
    return charge.take(policy, now_ms, charge.cost)
  end
  local first, second, third = match(stored, policy.pattern)
  if not first then
    return nil
  end
  return charge.take(policy, now_ms, charge.cost, tonumber(first), tonumber(second), tonumber(third))
end

-- A key expires when the state is untouched again, which is what reset tells.
local function ttl_of(reset_ms)
  return max(1, reset_ms + grace_ms)
end

local function commit_one(before)
  local key, charge = KEYS[before + 1], charged[1]
  local remaining, reset_ms, first, second, third = taken(key, charge)
  if not remaining then
    return need("commit-batch")(before)
  end
  keep_numbers(key, charge.policy, ttl_of(reset_ms), first, second, third)
  return format(two, remaining, reset_ms)
end

local function decide_run(size, width)
  charged = {}
  for place = 1, width do
    local policy = policies[next_number()]
    charged[place] = { policy = policy, cost = next_number(), take = take_of(policy.tag) }
  end
  local commit = width > 1 and need("commit-several") or charged[1].take and commit_one or need("commit-log")
  local lines = {}
  local end_of_run = keys_read + size * width
  local function commit_rest()
    while keys_read < end_of_run do
      keys_read = keys_read + width
      lines[#lines + 1] = commit(keys_read - width)
      decided = true
    end
  end
  -- An error ends the loop behind the batch that it belongs to.
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
