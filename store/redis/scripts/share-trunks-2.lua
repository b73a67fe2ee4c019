--[[
Agrees with the other nodes on trunks: whose each registration is, and how many calls each trunk has elsewhere.
  KEYS[1] owners  HASH trunk -> "node end-of-lease-in-ms"
  KEYS[2] calls   HASH "trunk node" -> "calls end-of-lease-in-ms"
  ARGV[1] node, ARGV[2] lease in ms, ARGV[3] number of trunks wanted, then their ids, then pairs of trunk and calls
Output: three lists: the trunks that are the node's, pairs of trunk and calls of all other nodes, and the trunks that are another node's. A registration stays
with its node as long as that asks; it changes when the node wants it no more, or when the lease ran out.
]]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local node, lease, wanted = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local ours = {}
for i = 4, 3 + wanted do
  local owner, ends = string.match(redis.call('HGET', KEYS[1], ARGV[i]) or '', '^(%S+) (%d+)$')
  if owner == nil or owner == node or tonumber(ends) < now then
    redis.call('HSET', KEYS[1], ARGV[i], node .. ' ' .. string.format('%d', now + lease))
    table.insert(ours, ARGV[i])
  end
end
local taken = {}
local keeps = {}
for _, trunk in ipairs(ours) do keeps[trunk] = true end
local owners = redis.call('HGETALL', KEYS[1])
for i = 1, #owners, 2 do
  local owner, ends = string.match(owners[i + 1], '^(%S+) (%d+)$')
  if owner == node and not keeps[owners[i]] then redis.call('HDEL', KEYS[1], owners[i])
  elseif owner ~= node and tonumber(ends) >= now then table.insert(taken, owners[i]) end
end
for i = 4 + wanted, #ARGV, 2 do
  redis.call('HSET', KEYS[2], ARGV[i] .. ' ' .. node, ARGV[i + 1] .. ' ' .. string.format('%d', now + lease))
end
local sums = {}
local all = redis.call('HGETALL', KEYS[2])
for i = 1, #all, 2 do
  local trunk, other = string.match(all[i], '^(%S+) (%S+)$')
  local calls, ends = string.match(all[i + 1], '^(%d+) (%d+)$')
  if ends == nil or tonumber(ends) < now then redis.call('HDEL', KEYS[2], all[i])
  elseif other ~= node then sums[trunk] = (sums[trunk] or 0) + tonumber(calls) end
end
for i = 1, 2 do redis.call('PEXPIRE', KEYS[i], lease * 2) end
local elsewhere = {}
for trunk, calls in pairs(sums) do
  table.insert(elsewhere, trunk)
  table.insert(elsewhere, calls)
end
return { ours, elsewhere, taken }
