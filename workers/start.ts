import { operationsAddress } from '../config/operations-address.ts'
import type { EffectiveConfig } from '../config/schema.ts'
import { openPrices } from '../runtime/call/cost.ts'
import { Carriers } from '../runtime/dialing/carriers.ts'
import { openEmbeddings } from '../runtime/knowledge/embeddings.ts'
import { closeInstance } from '../runtime/plugin/host.ts'
import type { Role, RoleContext } from '../runtime/plugin/role.ts'
import { openMailer } from '../runtime/process/mail.ts'
import { callMetrics } from '../runtime/process/metrics/call-metrics.ts'
import { measureDisk } from '../runtime/process/metrics/disk.ts'
import { hangUpMetrics } from '../runtime/process/metrics/hang-ups.ts'
import { lostRows } from '../runtime/process/metrics/lost-rows.ts'
import { processRegistry } from '../runtime/process/metrics/process-registry.ts'
import { startOperationsServer } from '../runtime/process/metrics/server.ts'
import { ResourceStack } from '../runtime/process/resource-stack.ts'
import { openArgumentChecks } from '../runtime/tools/argument-check.ts'
import { openTraces } from '../runtime/traces/open-traces.ts'
import { readinessParts, storeFaults } from '../store/connections/readiness.ts'
import { openStore } from '../store/database/database.ts'
import { countPool } from '../store/database/pool-metrics.ts'
import { countDeliveries } from '../store/events/count-deliveries.ts'
import { openVectors } from '../store/knowledge/vector-blob-store.ts'
import { openObjects } from '../store/objects/object-folder.ts'
import { createRedis } from '../store/redis/client.ts'
import { listenForReloads } from '../store/redis/reload.ts'
import { startAgentTests, type TestSubjects } from './agent-tests/start.ts'
import { startAnalysis } from './analysis/start.ts'
import { countBackups, startBackups } from './backups/start.ts'
import { startBatches } from './batch/start.ts'
import { startCallSums } from './call-sums/start.ts'
import { countQueues } from './count-queues.ts'
import { startDialer } from './dialer/start.ts'
import { startDocuments } from './documents/start.ts'
import { startEventRetention } from './events/start.ts'
import { openProviderKeys } from './provider-keys.ts'
import { startReaper } from './reaper/reaper.ts'
import { carrierReleaser } from './reaper/release-carrier.ts'
import { startRetention } from './retention/start.ts'
import { startRolloutGuard } from './rollouts/start.ts'
import { startVoiceWatch } from './voice-watch/start.ts'
import type { EventData } from './webhooks/event-data.ts'
import { startWebhooks } from './webhooks/start.ts'
import { numberReleaser } from './workspaces/give-back-numbers.ts'
import { startWorkspaceDeletion } from './workspaces/start.ts'

/**
 * Starts a job worker: the processors of every queue, and the reaper. The database is migrated.
 * @param eventData makes what webhooks are sent, as the API shows it
 * @param subjects makes agents ready for tests, as the API does for calls
 */
export async function startJobs(
  context: RoleContext<EffectiveConfig>,
  { eventData, subjects }: { eventData: EventData; subjects: TestSubjects },
): Promise<Role> {
  const { log, plugins } = context
  const opened = new ResourceStack('jobs', log)
  try {
    const store = openStore({
      databaseUrl: context.databaseUrl,
      onIdleError: (err) => log.warn({ err }, 'Database connection lost; reconnecting'),
    })
    opened.push(() => store.close())
    const redis = await createRedis(context.redisUrl, log)
    opened.push(() => redis.destroy())
    const providerKeys = await openProviderKeys({ config: context.config, store, redis, plugins, log })
    opened.push(() => providerKeys.stop())
    const embeddings = await openEmbeddings(plugins, context.config.embedding, log)
    const vectors = await openVectors(plugins, store, embeddings?.identity)
    opened.push(() => closeInstance(vectors))
    const maxPassages = context.config.passagesPerAgent
    const documents = startDocuments({ store, redis, vectors, embeddings, log, maxPassages })
    opened.push((graceMs) => documents.stop(graceMs))
    const batches = startBatches({ ...context, store, redis })
    opened.push((graceMs) => batches.stop(graceMs))
    const dialer = await startDialer({ ...context, store, redis })
    opened.push((graceMs) => dialer.stop(graceMs))
    const carriers = new Carriers(plugins)
    const releaser = carrierReleaser(store, carriers, log)
    opened.push(() => releaser.close())
    const prices = await openPrices(context)
    const reaper = startReaper({ store, redis, clock: context.clock, log, releaseCarrier: releaser.release, prices })
    opened.push(() => reaper.stop())
    const retention = startEventRetention({ ...context, store })
    opened.push(() => retention.stop())
    const objects = await openObjects({ ...context, publicUrl: () => context.config.publicUrl })
    const releaseNumber = numberReleaser({ carriers, plugins }, log)
    const deletion = startWorkspaceDeletion({ store, redis, objects, vectors, releaseNumber, log })
    opened.push((graceMs) => deletion.stop(graceMs))
    const guard = startRolloutGuard({ ...context, store })
    opened.push(() => guard.stop())
    const sums = startCallSums({ store, log })
    opened.push(() => sums.stop())
    const oldData = startRetention({ store, objects, log })
    opened.push(() => oldData.stop())
    const backups = startBackups({ ...context, store })
    opened.push(() => backups.stop())
    const checks = openArgumentChecks(log)
    opened.push(() => checks.close())
    const analysis = startAnalysis({
      ...{ ...context, store, checks, prices },
      traced: context.config.otlpEndpoint !== undefined,
    })
    opened.push((graceMs) => analysis.stop(graceMs))
    const tests = startAgentTests({ ...context, store, prices, objects, subjects, knowledge: { vectors, embeddings } })
    opened.push((graceMs) => tests.stop(graceMs))
    const { smtpUrl, mailFrom } = context.config
    const reloadRequests = await listenForReloads(redis, log, (reason) => context.reloads.reload(reason))
    opened.push(() => reloadRequests.stop())
    const mailer = smtpUrl === undefined ? undefined : await openMailer(smtpUrl, mailFrom)
    opened.push(() => mailer?.close())
    const traces = await openTraces(context.config, log)
    opened.push(() => traces?.stop())
    const webhooks = startWebhooks({ ...context, store, eventData, mailer, requests: traces?.requests })
    opened.push((graceMs) => webhooks.stop(graceMs))
    const voiceWatch = startVoiceWatch({ ...context, store, redis })
    opened.push(() => voiceWatch.stop())
    const registry = processRegistry('jobs', [lostRows, ...Object.values(callMetrics), ...Object.values(hangUpMetrics)])
    countPool(registry, store)
    countDeliveries(registry, store)
    measureDisk(registry, context.config.dataDir)
    countBackups(registry, store, context.config)
    const queues = countQueues(registry, redis)
    opened.push(() => queues.close())
    const stores = storeFaults(store, redis, context.clock)
    let leaving = false
    const operations = await startOperationsServer({
      ...operationsAddress(context.config, 'jobs'),
      registry,
      ready: async () => {
        const parts = readinessParts(await stores())
        const serves = parts.database === 'ok' && parts.redis === 'ok'
        const status = leaving ? 'draining' : serves ? 'ready' : 'not_ready'
        return { ready: status === 'ready', status, ...parts }
      },
      drain: () => {
        context.requestStop('drain')
        return { calls: 0 }
      },
      reload: () => context.reloads.reload('patchbay reload'),
    })
    opened.push(() => operations.close())
    const leave = (): void => {
      leaving = true
    }
    return { name: 'jobs', leave, stop: (graceMs) => opened.close(graceMs) }
  } catch (error) {
    await opened.close(0)
    throw error
  }
}
