--[[
Counts a call among those that a workspace and a number have at once, if both have room.
  KEYS[1] workspace  ZSET call -> end of its lease (ms)
  KEYS[2] number     ZSET call -> end of its lease (ms)
  ARGV[1] call, ARGV[2] lease in ms, ARGV[3] most calls of the workspace, ARGV[4] most calls of the number; -1: any
Output: 0, or which of the keys has no room: 1 or 2. A call that is counted already stays so.
]]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 1, 2 do
  -- A lease that ran out: the node that held the call is dead.
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', now)
  local most = tonumber(ARGV[2 + i])
  if most >= 0 and not redis.call('ZSCORE', KEYS[i], ARGV[1]) and redis.call('ZCARD', KEYS[i]) >= most then return i end
end
for i = 1, 2 do
  redis.call('ZADD', KEYS[i], now + ARGV[2], ARGV[1])
  redis.call('PEXPIRE', KEYS[i], ARGV[2] * 2)
end
return 0
