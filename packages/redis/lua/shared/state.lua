-- States of a few numbers, kept as one short text: the form of the policy that wrote it (its algorithm's tag, its
-- window, and its version unless that is 1), the numbers, and what the policy's own numbers were: its limit, and a
-- bucket's burst or queue. As in "t1m 600000 1700000000000 100 20" and "f1mv2 1700000000000 3 5".

local function keep_numbers(key, keeper, ttl_ms, first, second, third)
  call("SET", key, format(keeper.layout, first, second, third), "PX", text_of(ttl_ms))
end
