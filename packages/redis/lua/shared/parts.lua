-- Making functions takes longer than a decision, and most calls need few of them. So the build wraps each part that
-- not every call needs into a function, which is run when something needs the part by its name; and it has those
-- functions made by `make_parts`, when the first of them is needed.

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
