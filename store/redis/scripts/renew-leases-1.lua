--[[
Extends the leases of calls.
  KEYS[1] leases  ZSET call -> end of its lease (ms)
  ARGV[1] lease in ms, ARGV[2...] calls
Output: nothing.
]]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[i]) end
