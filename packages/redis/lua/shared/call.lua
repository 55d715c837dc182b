-- What the parts of one call share: the policies that it names, by their places; how far its keys are read; and
-- whether a batch has been decided.

local policies = {}
local keys_read = 0
local decided = false
