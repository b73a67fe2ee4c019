--[[
Gives a lock back.
  KEYS[1] lock  STRING holder
  ARGV[1] holder
Output: 1, or 0 when somebody else holds it by now.
]]
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
