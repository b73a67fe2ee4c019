/**
 * An api node, a job worker and a voice worker in one process, or some of them, to be killed at any moment:
 * `node phone-process.ts <databaseUrl> <redisUrl> <dataDir>`. Its carrier is test/support/providers/carriers/ledger, or real trunks on
 * loopback.
 *
 *     TEST_ROLES      which of `api`, `voice` and `jobs`; all of them without it
 *     TEST_API_PORT   where its api node listens; a free port without it
 *     TEST_SIP_PORT, TEST_RTP_PORTS   of its api node, whose numbers then belong to SIP trunks
 *     TEST_API_URLS   the api nodes its voice worker works for; its own without it
 *     TEST_CAPACITY   calls its voice worker takes at once; 4 without it
 *     TEST_REAPER_GRACE_MS   how long its reaper watches a call without a lease; a second without it
 */
import { join } from 'node:path'
import { pino } from 'pino'
import { deriveConfig } from '../../../config/effective.ts'
import { loadConfig } from '../../../config/load.ts'
import { systemClock } from '../../../runtime/lib/clock.ts'
import { openDatabaseClock } from '../../../store/database/database-clock.ts'
import { testReloads } from '../instance/reloads.ts'

const [databaseUrl = '', redisUrl = '', dataDir = ''] = process.argv.slice(2)
const { TEST_ROLES, TEST_API_PORT, TEST_API_URLS, TEST_CAPACITY, TEST_CALLING_RULES, TEST_LOG_LEVEL } = process.env
const { TEST_SIP_PORT, TEST_RTP_PORTS } = process.env
const graceMs = Number(process.env.TEST_REAPER_GRACE_MS ?? 1_000)
const sip =
  TEST_SIP_PORT === undefined
    ? {}
    : {
        PATCHBAY_SIP_PORT: TEST_SIP_PORT,
        PATCHBAY_SIP_HOST: '127.0.0.1',
        PATCHBAY_RTP_PORTS: TEST_RTP_PORTS ?? '',
        PATCHBAY_ALLOW_NET: 'sip:127.0.0.1',
        PATCHBAY_TRUNKS_ALLOW_NET: '127.0.0.1',
      }
const roles = new Set((TEST_ROLES ?? 'api,voice,jobs').split(','))
const LINK_TOKEN = 'phone-process'
const log = pino({ level: TEST_LOG_LEVEL ?? 'silent' })
const { signal } = new AbortController()
// As main.ts has it: a voice worker reaches no database.
const clock =
  roles.has('api') || roles.has('jobs')
    ? await openDatabaseClock({ databaseUrl, machine: systemClock, log, signal })
    : systemClock
const config = {
  ...deriveConfig(
    loadConfig({
      PORT: TEST_API_PORT ?? '0',
      PATCHBAY_ADMIN_PORT: '0',
      PATCHBAY_HOST: '127.0.0.1',
      PATCHBAY_DATA_DIR: dataDir,
      ...sip,
      ...(TEST_CALLING_RULES ? { PATCHBAY_CALLING_RULES: TEST_CALLING_RULES } : {}),
    }),
  ),
  jwtApiSecret: 'x'.repeat(32),
  dataKey: 'x'.repeat(32),
  linkToken: LINK_TOKEN,
}

/** A process that runs campaigns alone needs none of what an api node is made of: each role loads its own. */
async function startApiNode(): Promise<string> {
  const [{ startApi }, { loadPlugins }] = await Promise.all([
    import('../../../api/start.ts'),
    import('../../../runtime/plugin/host.ts'),
  ])
  const dir = join(import.meta.dirname, '../providers/carriers')
  // The vector store of the checkout isn't among the test's plugins.
  const [own, product] = await Promise.all([
    loadPlugins({ dir, config, env: {}, log, signal }),
    loadPlugins({ config, env: sip, log, signal }),
  ])
  const plugins: typeof product = {
    ...product,
    create: (kind, provider, ...options) =>
      (kind === 'telephony' && provider === 'ledger' ? own : product).create(kind, provider, ...options),
  }
  const reloads = testReloads(config, log)
  const services = {
    config,
    reloads,
    env: sip,
    plugins,
    log,
    clock,
    requestStop: () => {},
    signal,
    databaseUrl,
    redisUrl,
  }
  return (await startApi(services)).url ?? ''
}

async function startVoiceWorker(urls: readonly string[]): Promise<void> {
  const [{ connectLinks }, { scriptedConversation }] = await Promise.all([
    import('../../../runtime/call/link/worker-end.ts'),
    import('./scripted-conversation.ts'),
  ])
  connectLinks({
    urls: urls.map((one) => one.replace(/^http/, 'ws')),
    token: LINK_TOKEN,
    workerId: `worker-${process.pid}`,
    capacity: Number(TEST_CAPACITY ?? 4),
    metricsUrl: 'http://127.0.0.1:1/metrics',
    openConversation: scriptedConversation,
    state: () => 'ready',
    clock,
    random: Math.random,
    log,
    signal,
  })
}

async function startJobs(): Promise<void> {
  const [{ openStore }, { createRedis }, { startBatches }, { startDialer }, { startReaper }] = await Promise.all([
    import('../../../store/database/database.ts'),
    import('../../../store/redis/client.ts'),
    import('../../../workers/batch/start.ts'),
    import('../../../workers/dialer/start.ts'),
    import('../../../workers/reaper/reaper.ts'),
  ])
  const store = openStore({ databaseUrl, maxConnections: 4 })
  const redis = await createRedis(redisUrl, log)
  startBatches({ store, redis, clock, log, config, sweepIntervalMs: 100, lostAfterMs: 1_000 })
  const reloads = testReloads(config, log)
  await startDialer({ store, redis, databaseUrl, clock, log, config, reloads, sweepIntervalMs: 100 })
  startReaper({ store, redis, clock, log, intervalMs: 500, graceMs })
}

const url = roles.has('api') ? await startApiNode() : undefined
if (roles.has('voice')) await startVoiceWorker(TEST_API_URLS?.split(',') ?? [url ?? ''])
if (roles.has('jobs')) await startJobs()
process.send?.({ url })
process.on('disconnect', () => process.exit(1))
