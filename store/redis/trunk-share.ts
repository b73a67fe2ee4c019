import type { TrunkShare } from '../../runtime/plugin-sdk/telephony/trunk.ts'
import type { RedisClient } from './client.ts'
import { loadScript } from './scripts/run.ts'

const KEYS = ['patchbay:{trunks}:owners', 'patchbay:{trunks}:calls'] as const
/** A node that is gone keeps its registrations, and its calls their places, this long. */
const LEASE_MS = 30_000

const script = loadScript('share-trunks-2.lua')

/** As TrunkDirectory's `share`, of this node. */
export async function shareTrunks(
  redis: RedisClient,
  node: string,
  wanted: readonly string[],
  active: ReadonlyMap<string, number>,
): Promise<TrunkShare> {
  const calls = [...active].flat()
  const [ours, pairs, taken] = (await script.run(redis, KEYS, [
    node,
    LEASE_MS,
    wanted.length,
    ...wanted,
    ...calls,
  ])) as [string[], (string | number)[], string[]]
  const elsewhere = new Map<string, number>()
  for (let at = 0; at + 1 < pairs.length; at += 2) elsewhere.set(String(pairs[at]), Number(pairs[at + 1]))
  return { ours: new Set(ours), elsewhere, taken: new Set(taken) }
}

/** Leaves the trunks to other nodes at once. */
export async function leaveTrunks(redis: RedisClient, node: string): Promise<void> {
  const owners = await redis.hGetAll(KEYS[0])
  const own = Object.entries(owners).filter(([, owner]) => owner.startsWith(`${node} `))
  if (own.length > 0)
    await redis.hDel(
      KEYS[0],
      own.map(([trunk]) => trunk),
    )
  const calls = (await redis.hKeys(KEYS[1])).filter((key) => key.endsWith(` ${node}`))
  if (calls.length > 0) await redis.hDel(KEYS[1], calls)
}
