-- A charge of a run as a batch of its own: see run.lua.
return function(key)
  local charge = { key = key, policy = with_algorithm(policy), cost = cost, next_ms = -1, at = -1, mark = 0 }
  local told = need("batches").decide({ charges = { charge }, size = 1, capital = false, mode = "c" })
  local allowed, remaining, retry_ms, reset_ms, at, mark = told[1], told[2], told[3], told[5], told[7], told[8]
  if allowed == 0 then
    return format(two, -1 - remaining, reset_ms) .. " " .. text_of(retry_ms)
  end
  return admitted(remaining, reset_ms, at, mark)
end
