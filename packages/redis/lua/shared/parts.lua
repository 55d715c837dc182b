-- Most calls need few of the parts of this script, and making functions takes time, so the build wraps each of the
-- other files in a function of `parts` that is run when something needs it.

local parts, made = {}, {}

local function need(name)
  local part = made[name]
  if not part then
    part = parts[name]()
    made[name] = part
  end
  return part
end
