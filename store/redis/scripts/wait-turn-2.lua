--[[
Stands in a line, or says that one is still there; who stopped saying so is dropped.
  KEYS[1] line   ZSET ticket -> place
  KEYS[2] alive  ZSET ticket -> end of its lease (ms)
  ARGV[1] ticket, ARGV[2] lease in ms, ARGV[3] most tickets in a line, ARGV[4] '1' to enter the line
Output: how many stand before the ticket (0: it is its turn), -1 when the line is full, -2 when it is not in the line.
]]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, dead in ipairs(redis.call('ZRANGE', KEYS[2], '-inf', now, 'BYSCORE')) do
  redis.call('ZREM', KEYS[1], dead)
  redis.call('ZREM', KEYS[2], dead)
end
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  if ARGV[4] ~= '1' then return -2 end
  if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return -1 end
  local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
  redis.call('ZADD', KEYS[1], (tonumber(last[2]) or 0) + 1, ARGV[1])
end
redis.call('ZADD', KEYS[2], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2] * 2)
redis.call('PEXPIRE', KEYS[2], ARGV[2] * 2)
return redis.call('ZRANK', KEYS[1], ARGV[1])
