--[[
Forgets a worker that stops, with its ready slots. Slots still taken stay until they are released or their lease ends.
  KEYS[1] ready    ZSET slot -> time it is ready (ms)
  KEYS[2] workers  ZSET worker -> end of its entry (ms)
  KEYS[3] info     HASH worker -> JSON about it, with "capacity"
  KEYS[4] use      HASH "<slot>|calls", "<slot>|talk" (ms)
  ARGV[1] worker
Output: how many ready slots were removed.
]]
local info = redis.call('HGET', KEYS[3], ARGV[1])
local removed = 0
for i = 0, (info and cjson.decode(info).capacity or 0) - 1 do
  local slot = ARGV[1] .. '/' .. i
  removed = removed + redis.call('ZREM', KEYS[1], slot)
  redis.call('HDEL', KEYS[4], slot .. '|calls', slot .. '|talk')
end
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('HDEL', KEYS[3], ARGV[1])
return removed
