-- What texts say of a policy. `form` is what its states begin with; `pattern` reads their numbers, `layout` writes
-- them; a log has a `head` instead.

-- How many numbers a state is; a log is more than numbers.
local number_counts = { f = 2, c = 3, t = 2, l = 2 }

local function terms_of(tag, limit, window, window_ms, extra, version)
  local form = version == "1" and tag .. window or tag .. window .. "v" .. version
  local suffix = (tag == "t" or tag == "l") and " " .. limit .. " " .. extra or " " .. limit
  local policy = {
    tag = tag,
    limit = tonumber(limit),
    window = window,
    window_ms = tonumber(window_ms),
    extra = tonumber(extra),
    form = form,
  }
  local count = number_counts[tag]
  if count then
    policy.pattern = "^" .. form .. string.rep(" (%d+)", count) .. suffix .. "$"
    policy.layout = form .. string.rep(" " .. digits, count) .. suffix
  else
    policy.head = form .. suffix .. "\n"
  end
  return policy
end
