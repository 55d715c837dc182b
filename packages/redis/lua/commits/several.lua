-- A batch of several charges, straight: all are looked at before the first is made. `before` is how many keys stand
-- before its own. See run.lua.
local told = {}
return function(before)
  for place, charge in ipairs(charged) do
    local remaining, reset_ms, first, second, third = taken(KEYS[before + place], charge)
    if not remaining then
      return need("commit-batch")(before)
    end
    told[place] = format(two, remaining, reset_ms)
    charge.ttl_ms, charge.first, charge.second, charge.third = ttl_of(reset_ms), first, second, third
  end
  for place, charge in ipairs(charged) do
    keep_numbers(KEYS[before + place], charge.policy, charge.ttl_ms, charge.first, charge.second, charge.third)
  end
  return table.concat(told, " ", 1, #charged)
end
