-- A batch of a run that the straight way cannot admit, decided like any other. See run.lua.
local numbers_of_outcome = 8

return function(before)
  local charges = {}
  for place, charge in ipairs(charged) do
    charges[place] = {
      key = KEYS[before + place],
      policy = with_algorithm(charge.policy),
      cost = charge.cost,
      next_ms = -1,
      at = -1,
      mark = 0,
    }
  end
  local numbers = need("batches").decide({ charges = charges, size = #charges, capital = false, mode = "c" })
  return format("=" .. string.rep(" " .. digits, numbers_of_outcome * #charges), unpack(numbers))
end
