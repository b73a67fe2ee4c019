--[[
Renews a worker's entry and makes its missing slots ready: as many as it has free, so that after a loss of Redis' memory
a slot in use isn't offered. A slot whose lease ran out is missing, too: its holder is dead, or never learned that it held it, and
nobody may ask for a slot while none seems ready. Workers whose entry ran out are forgotten with their ready slots.
  KEYS[1] ready    ZSET slot -> time it is ready (ms)
  KEYS[2] taken    ZSET slot -> end of its lease (ms)
  KEYS[3] workers  ZSET worker -> end of its entry (ms)
  KEYS[4] info     HASH worker -> JSON about it, with "capacity"
  KEYS[5] use      HASH "<slot>|calls", "<slot>|talk" (ms), "<slot>|since" (ms) while it is taken
  KEYS[6] holders  HASH slot -> who holds it
  ARGV[1] worker, ARGV[2] capacity, ARGV[3] its active sessions, ARGV[4] entry's life in ms, ARGV[5] JSON
Output: how many slots were added.
]]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local worker, capacity = ARGV[1], tonumber(ARGV[2])

for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now, 'LIMIT', 0, 20)) do
  if gone ~= worker then
    local info = redis.call('HGET', KEYS[4], gone)
    for i = 0, (info and cjson.decode(info).capacity or 0) - 1 do
      local slot = gone .. '/' .. i
      redis.call('ZREM', KEYS[1], slot)
      redis.call('HDEL', KEYS[5], slot .. '|calls', slot .. '|talk', slot .. '|since')
    end
    redis.call('ZREM', KEYS[3], gone)
    redis.call('HDEL', KEYS[4], gone)
  end
end

local before = redis.call('HGET', KEYS[4], worker)
for i = capacity, (before and cjson.decode(before).capacity or 0) - 1 do
  redis.call('ZREM', KEYS[1], worker .. '/' .. i)
end
redis.call('ZADD', KEYS[3], now + ARGV[4], worker)
redis.call('HSET', KEYS[4], worker, ARGV[5])

local missing, ready, taken = {}, 0, 0
for i = 0, capacity - 1 do
  local slot = worker .. '/' .. i
  if redis.call('ZSCORE', KEYS[1], slot) then
    ready = ready + 1
  elseif tonumber(redis.call('ZSCORE', KEYS[2], slot) or 0) > now then
    taken = taken + 1
  else
    if redis.call('ZREM', KEYS[2], slot) == 1 then
      redis.call('HDEL', KEYS[6], slot)
      redis.call('HDEL', KEYS[5], slot .. '|since')
    end
    table.insert(missing, slot)
  end
end
local free = math.min(#missing, capacity - math.max(taken, tonumber(ARGV[3])) - ready)
for i = 1, free do redis.call('ZADD', KEYS[1], now, missing[i]) end
return math.max(free, 0)
