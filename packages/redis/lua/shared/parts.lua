-- Making functions takes longer than a decision, and most calls need few of them, so the build wraps all other files
-- into functions that are run when something needs a part by its name. Those functions are themselves made, by
-- `make_parts`, only when the first is needed.

local parts, make_parts
local made = {}

local function need(name)
  local part = made[name]
  if not part then
    parts = parts or make_parts()
    part = parts[name]()
    made[name] = part
  end
  return part
end
