--[[
Finds the calls that no api node holds.
  KEYS[1] leases  ZSET call -> end of its lease (ms)
  ARGV[1...] calls
Output: those of them without a running lease. Leases that ran out an hour ago are forgotten.
]]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 3600000)
local unleased = {}
for i = 1, #ARGV do
  local lease = redis.call('ZSCORE', KEYS[1], ARGV[i])
  if not lease or tonumber(lease) <= now then table.insert(unleased, ARGV[i]) end
end
return unleased
