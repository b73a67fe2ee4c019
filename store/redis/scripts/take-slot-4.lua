--[[
Takes the slot that has been idle longest among the given workers, and leases it.
  KEYS[1] ready    ZSET slot -> time it is ready (ms); slot is "<worker>/<index>"
  KEYS[2] taken    ZSET slot -> end of its lease (ms)
  KEYS[3] holders  HASH slot -> who holds it
  KEYS[4] workers  ZSET worker -> end of its entry (ms)
  ARGV[1] holder, ARGV[2] lease in ms, ARGV[3...] the workers that may be taken
Output: the slot, or false when none of them is ready.
]]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local allowed = {}
for i = 3, #ARGV do allowed[ARGV[i]] = true end

-- A lease that ran out: its holder is dead, and so is the link over which the slot was used.
for _, slot in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, 100)) do
  redis.call('ZREM', KEYS[2], slot)
  redis.call('HDEL', KEYS[3], slot)
  if redis.call('ZSCORE', KEYS[4], string.match(slot, '^(.*)/%d+$')) then redis.call('ZADD', KEYS[1], now, slot) end
end

local offset = 0
while true do
  local slots = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', offset, 100)
  for _, slot in ipairs(slots) do
    if allowed[string.match(slot, '^(.*)/%d+$')] then
      redis.call('ZREM', KEYS[1], slot)
      redis.call('ZADD', KEYS[2], now + ARGV[2], slot)
      redis.call('HSET', KEYS[3], slot, ARGV[1])
      return slot
    end
  end
  if #slots < 100 then return false end
  offset = offset + 100
end
