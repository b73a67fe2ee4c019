import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { redisOutage } from '../connections/outage.ts'
import { createRedis } from './client.ts'

const SENTINEL =
  'REDIS_URL leads to a Redis Sentinel, which stores nothing. List the Sentinels in REDIS_SENTINELS, and name the primary that they look after in ' +
  'place of the host of REDIS_URL: REDIS_SENTINELS=sentinel-1:26379,sentinel-2:26379 and REDIS_URL=redis://:password@mymaster/0.'
const CLUSTER =
  'REDIS_URL leads to a Redis Cluster of several nodes, which Patchbay does not divide its keys over. Use a Redis without cluster mode, or ' +
  'one whose cluster mode is disabled.'

/**
 * Connects to Redis once. Throws `configuration` with the cure for what Patchbay can't run on, `unavailable` where it can't be reached,
 * and what Redis says while it loads.
 */
export async function checkRedis(redisUrl: string, log: Logger): Promise<void> {
  const protocol = new URL(redisUrl).protocol
  if (/sentinel/i.test(protocol)) throw new PatchbayError('configuration', { params: { reason: SENTINEL } })
  if (!['redis:', 'rediss:', 'unix:'].includes(protocol)) {
    const reason = `REDIS_URL must begin with redis://, rediss:// or unix://, not "${protocol}//".`
    throw new PatchbayError('configuration', { params: { reason } })
  }
  if (protocol !== 'rediss:' && new URL(redisUrl).searchParams.has('cafile')) {
    const reason = 'REDIS_URL names a "cafile", which only rediss:// has a use for; begin it with rediss://.'
    throw new PatchbayError('configuration', { params: { reason } })
  }
  const redis = await createRedis(redisUrl, log)
  try {
    const info = await redis.info('server')
    if (/^redis_mode:sentinel/m.test(info)) throw new PatchbayError('configuration', { params: { reason: SENTINEL } })
    if (/^redis_mode:cluster/m.test(info)) {
      const slots = await redis.sendCommand(['CLUSTER', 'INFO']).then(String)
      if (!/^cluster_size:[01]\s*$/m.test(slots))
        throw new PatchbayError('configuration', { params: { reason: CLUSTER } })
    }
    await redis.ping()
  } catch (cause) {
    throw redisOutage(cause) === undefined ? cause : new PatchbayError('unavailable', { cause })
  } finally {
    redis.destroy()
  }
}
