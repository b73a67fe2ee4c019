--[[
Takes a ready slot of the given workers, by the strategy of the claim whose turn it is, and leases it. Claims of a lower
rank go first; within a rank workspaces take turns by their tags (start-time fair queueing). A claim of another node that
comes before leaves a slot for it. Calls we make (ranks 2 and 3) leave the reserve free; one workspace holds no more than its share of what
is beyond the reserve, so that another's calls find a slot, too.
  KEYS[1] ready    ZSET slot -> time it is ready (ms); slot is "<worker>/<index>"
  KEYS[2] taken    ZSET slot -> end of its lease (ms)
  KEYS[3] holders  HASH slot -> who holds it: "<holder>|<workspace>"
  KEYS[4] workers  ZSET worker -> end of its entry (ms)
  KEYS[5] info     HASH worker -> JSON about it, with "capacity"
  KEYS[6] waiting  ZSET "<rank>|<workspace>|<node>" -> until when it counts (ms)
  KEYS[7] turns    ZSET workspace -> tag of its next turn; "*" -> tag of the latest turn
  KEYS[8] use      HASH "<slot>|calls", "<slot>|talk" (ms), "<slot>|since" (ms) while it is taken; "last" -> slot taken last
  ARGV[1] holder, ARGV[2] lease in ms, ARGV[3] node, ARGV[4] how long a claim counts in ms, ARGV[5] reserve and
  ARGV[6] share of a workspace beyond it, as parts, ARGV[7] number of workers, the workers, then in threes: rank, workspace,
  strategy
Output: slot and number of the claim it is for (from 0), or false.
]]
local RECOVERING, OURS = 0, 2
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local node, workerCount = ARGV[3], tonumber(ARGV[7])

-- A lease that ran out: its holder is dead, and so is the link over which the slot was used.
for _, slot in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, 100)) do
  redis.call('ZREM', KEYS[2], slot)
  redis.call('HDEL', KEYS[3], slot)
  redis.call('HDEL', KEYS[8], slot .. '|since')
  if redis.call('ZSCORE', KEYS[4], string.match(slot, '^(.*)/%d+$')) then redis.call('ZADD', KEYS[1], now, slot) end
end

local capacity, alive, capacities = 0, {}, {}
for _, worker in ipairs(redis.call('ZRANGEBYSCORE', KEYS[4], now, '+inf')) do
  local info = redis.call('HGET', KEYS[5], worker)
  alive[worker] = true
  capacities[worker] = info and cjson.decode(info).capacity or 0
  capacity = capacity + capacities[worker]
end

-- How many of its slots each worker has given away.
local loads = {}
for _, slot in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  local worker = string.match(slot, '^(.*)/%d+$')
  loads[worker] = (loads[worker] or 0) + 1
end

-- Those that are idle longest come first.
local allowed, ready, mine = {}, 0, {}
for i = 8, 7 + workerCount do allowed[ARGV[i]] = true end
for _, slot in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now)) do
  local worker = string.match(slot, '^(.*)/%d+$')
  if alive[worker] then ready = ready + 1 end
  if allowed[worker] then table.insert(mine, slot) end
end

redis.call('ZREMRANGEBYSCORE', KEYS[6], '-inf', now)
local claims, strategies = {}, {}
for i = 8 + workerCount, #ARGV, 3 do
  local name = ARGV[i] .. '|' .. ARGV[i + 1] .. '|' .. node
  claims[name] = (i - 8 - workerCount) / 3
  strategies[name] = ARGV[i + 2]
  redis.call('ZADD', KEYS[6], now + ARGV[4], name)
end
if #mine == 0 then return false end

local function choose(strategy)
  if strategy == 'random' then return mine[time[2] % #mine + 1] end
  if strategy == 'round-robin' then
    local last = redis.call('HGET', KEYS[8], 'last') or ''
    table.sort(mine)
    for _, slot in ipairs(mine) do
      if slot > last then return slot end
    end
    return mine[1]
  end
  if strategy == 'longest-idle-agent' then
    -- Of the workers with the least load: else one that was just started, and is last in line, gets nothing.
    local best, least = mine[1], nil
    for _, slot in ipairs(mine) do
      local worker = string.match(slot, '^(.*)/%d+$')
      local load = (loads[worker] or 0) / math.max(1, capacities[worker] or 1)
      if not least or load < least then best, least = slot, load end
    end
    return best
  end
  local counted = ({ ['agent-with-fewest-calls'] = '|calls', ['agent-with-least-talk-time'] = '|talk' })[strategy]
  local best, least = mine[1], nil
  for _, slot in ipairs(counted and mine or {}) do
    local used = tonumber(redis.call('HGET', KEYS[8], slot .. counted) or 0)
    if not least or used < least then best, least = slot, used end
  end
  return best
end

local held = {}
for _, holder in ipairs(redis.call('HVALS', KEYS[3])) do
  local workspace = string.match(holder, '|(.*)$')
  if workspace then held[workspace] = (held[workspace] or 0) + 1 end
end

local latest = tonumber(redis.call('ZSCORE', KEYS[7], '*') or 0)
local line = {}
for _, name in ipairs(redis.call('ZRANGE', KEYS[6], 0, -1)) do
  local rank, workspace = string.match(name, '^(%d)|([^|]*)|')
  local tag = math.max(tonumber(redis.call('ZSCORE', KEYS[7], workspace) or 0), latest)
  table.insert(line, { name = name, rank = tonumber(rank), workspace = workspace, tag = tag })
end
table.sort(line, function(a, b)
  if a.rank ~= b.rank then return a.rank < b.rank end
  if a.tag ~= b.tag then return a.tag < b.tag end
  return a.name < b.name
end)

local reserve = math.min(math.max(1, math.ceil(capacity * ARGV[5])), capacity - 1)
if tonumber(ARGV[5]) == 0 then reserve = 0 end
local most = capacity
if tonumber(ARGV[6]) < 1 then most = math.max(1, math.floor((capacity - reserve) * ARGV[6])) end
local left = ready
for _, claim in ipairs(line) do
  local waits = claim.rank >= OURS and left <= reserve
  local over = claim.rank ~= RECOVERING and (held[claim.workspace] or 0) >= most
  if not waits and not over then
    local index = claims[claim.name]
    if index then
      local slot = choose(strategies[claim.name])
      redis.call('ZREM', KEYS[1], slot)
      redis.call('ZADD', KEYS[2], now + ARGV[2], slot)
      redis.call('HSET', KEYS[3], slot, ARGV[1] .. '|' .. claim.workspace)
      redis.call('HSET', KEYS[8], slot .. '|since', now, 'last', slot)
      redis.call('HINCRBY', KEYS[8], slot .. '|calls', 1)
      redis.call('ZREM', KEYS[6], claim.name)
      -- A workspace that is not ahead of the latest turn starts there.
      redis.call('ZREMRANGEBYSCORE', KEYS[7], '-inf', claim.tag)
      redis.call('ZADD', KEYS[7], claim.tag, '*', claim.tag + 1, claim.workspace)
      return { slot, index }
    end
    left = left - 1
    if left <= 0 then return false end
  end
end
return false
