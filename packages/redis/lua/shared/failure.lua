-- The text of an error, and whether it must fail the call as a whole: that of a server that cannot write does, so
-- that the client sees it for what it is. Such an error begins with a code of its own; any other is about what a key
-- holds. Redis 7 raises a table, Redis 6 a text that begins with the script's name and line.
return function(raised)
  local text = type(raised) == "table" and raised.err or tostring(raised)
  text = match(text, "(%u%u+ .*)") or text
  local code = match(text, "^%u+")
  return text, not decided and code and code ~= "WRONGTYPE" and code ~= "ERR"
end
