--[[
Extends the leases of slots. A slot nobody holds is taken back: Redis lost it, or its lease ran out unused.
  KEYS[1] ready    ZSET slot -> time it is ready (ms)
  KEYS[2] taken    ZSET slot -> end of its lease (ms)
  KEYS[3] holders  HASH slot -> who holds it
  ARGV[1] lease in ms, then pairs: slot, holder
Output: the slots that someone else holds by now.
]]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lost = {}
for i = 2, #ARGV, 2 do
  local slot, holder = ARGV[i], ARGV[i + 1]
  local held = redis.call('HGET', KEYS[3], slot)
  if held and held ~= holder then
    table.insert(lost, slot)
  else
    redis.call('ZREM', KEYS[1], slot)
    redis.call('HSET', KEYS[3], slot, holder)
    redis.call('ZADD', KEYS[2], now + ARGV[1], slot)
  end
end
return lost
