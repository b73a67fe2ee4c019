--[[
Gives a slot back. It is ready again after its wrap-up.
  KEYS[1] ready    ZSET slot -> time it is ready (ms)
  KEYS[2] taken    ZSET slot -> end of its lease (ms)
  KEYS[3] holders  HASH slot -> who holds it
  KEYS[4] workers  ZSET worker -> end of its entry (ms)
  KEYS[5] use      HASH "<slot>|talk" (ms), "<slot>|since" (ms) while it is taken
  ARGV[1] slot, ARGV[2] holder, ARGV[3] wrap-up in ms, or -1 when the worker is lost: the slot is not ready
          until the worker is registered again
Output: 1, or 0 when the holder doesn't hold it.
]]
if redis.call('HGET', KEYS[3], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HDEL', KEYS[3], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local since = redis.call('HGET', KEYS[5], ARGV[1] .. '|since')
redis.call('HDEL', KEYS[5], ARGV[1] .. '|since')
local known = redis.call('ZSCORE', KEYS[4], string.match(ARGV[1], '^(.*)/%d+$'))
if known and since then redis.call('HINCRBY', KEYS[5], ARGV[1] .. '|talk', now - since) end
if known and tonumber(ARGV[3]) >= 0 then
  redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
end
return 1
