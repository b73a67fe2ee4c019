--[[
Keeps a running call counted, even where Redis forgot it.
  KEYS[1] workspace  ZSET call -> end of its lease (ms)
  KEYS[2] number     ZSET call -> end of its lease (ms)
  ARGV[1] call, ARGV[2] lease in ms
Output: nothing.
]]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 1, 2 do
  redis.call('ZADD', KEYS[i], now + ARGV[2], ARGV[1])
  redis.call('PEXPIRE', KEYS[i], ARGV[2] * 2)
end
