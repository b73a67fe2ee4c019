/**
 * An api node, a job worker and a voice worker in one process, to be killed at any moment:
 * `node phone-process.ts <databaseUrl> <redisUrl> <dataDir>`. Its carrier is test/support/carriers/ledger.
 */
import { join } from 'node:path'
import { pino } from 'pino'
import { startApi } from '../../api/start.ts'
import { deriveConfig } from '../../config/effective.ts'
import { loadConfig } from '../../config/load.ts'
import { systemClock } from '../../runtime/clock.ts'
import { connectLinks } from '../../runtime/link/worker-end.ts'
import { loadPlugins } from '../../runtime/plugin/host.ts'
import { openStore } from '../../store/database.ts'
import { createRedis } from '../../store/redis/client.ts'
import { startBatches } from '../../workers/batch/start.ts'
import { startDialer } from '../../workers/dialer/start.ts'
import { startReaper } from '../../workers/reaper/reaper.ts'
import { scriptedConversation } from './scripted-conversation.ts'

const [databaseUrl = '', redisUrl = '', dataDir = ''] = process.argv.slice(2)
const LINK_TOKEN = 'phone-process'
const CAPACITY = 4
const log = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' })
const { signal } = new AbortController()
const env = {
  PORT: '0',
  PATCHBAY_ADMIN_PORT: '0',
  PATCHBAY_HOST: '127.0.0.1',
  PATCHBAY_DATA_DIR: dataDir,
  ...(process.env.TEST_CALLING_RULES ? { PATCHBAY_CALLING_RULES: process.env.TEST_CALLING_RULES } : {}),
}
const config = {
  ...deriveConfig(loadConfig(env)),
  jwtApiSecret: 'x'.repeat(32),
  dataKey: 'x'.repeat(32),
  linkToken: LINK_TOKEN,
}
const dir = join(import.meta.dirname, 'carriers')
// The vector store of the checkout isn't among the test's plugins.
const [own, product] = await Promise.all([
  loadPlugins({ dir, config, env: {}, log, signal }),
  loadPlugins({ config, env: {}, log, signal }),
])
const plugins: typeof product = {
  ...product,
  create: (kind, provider, ...options) => (kind === 'telephony' ? own : product).create(kind, provider, ...options),
}
const clock = systemClock
const api = await startApi({
  config,
  env: {},
  plugins,
  log,
  clock,
  requestStop: () => {},
  signal,
  databaseUrl,
  redisUrl,
})
connectLinks({
  urls: [(api.url ?? '').replace(/^http/, 'ws')],
  token: LINK_TOKEN,
  workerId: `worker-${process.pid}`,
  capacity: CAPACITY,
  metricsUrl: 'http://127.0.0.1:1/metrics',
  openConversation: scriptedConversation,
  state: () => 'ready',
  clock,
  random: Math.random,
  log,
  signal,
})
const store = openStore({ databaseUrl, maxConnections: 4 })
const redis = await createRedis(redisUrl, log)
startBatches({ store, redis, clock, log, config, sweepIntervalMs: 100, lostAfterMs: 1_000 })
await startDialer({ store, redis, databaseUrl, clock, log, config, sweepIntervalMs: 100 })
startReaper({ store, redis, clock, log, intervalMs: 500, graceMs: 1_000 })
process.send?.({ url: api.url })
process.on('disconnect', () => process.exit(1))
