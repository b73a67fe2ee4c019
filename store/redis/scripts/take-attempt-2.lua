--[[
Begins an attempt, if those under way could all fail without reaching the limit.
  KEYS[1] failures   STRING, how many
  KEYS[2] under way  ZSET attempt -> end of its lease (ms)
  ARGV[1] attempt, ARGV[2] lease in ms, ARGV[3] most failures
Output: 0: it has begun; 1: others have to end first; 2: the limit is reached.
]]
local most = tonumber(ARGV[3])
local failures = tonumber(redis.call('GET', KEYS[1]) or 0)
if failures >= most then return 2 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- A lease that ran out: the node that made the attempt is dead.
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
if failures + redis.call('ZCARD', KEYS[2]) >= most then return 1 end
redis.call('ZADD', KEYS[2], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[2] * 2)
return 0
