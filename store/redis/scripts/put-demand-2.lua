--[[
Notes what a unit of work wants, and forgets those that stopped asking.
  KEYS[1] demands  HASH unit -> JSON
  KEYS[2] until    ZSET unit -> until when its demand counts (ms)
  ARGV[1] unit, ARGV[2] JSON, ARGV[3] how long it counts in ms
Output: nothing.
]]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now)) do
  redis.call('HDEL', KEYS[1], gone)
  redis.call('ZREM', KEYS[2], gone)
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], now + ARGV[3], ARGV[1])
