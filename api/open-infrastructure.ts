import type { Registry } from 'prom-client'
import type { EffectiveConfig } from '../config/schema.ts'
import { admissionRefusals } from '../runtime/admission/refusals.ts'
import { admissionWaits } from '../runtime/admission/waits.ts'
import { openPrices } from '../runtime/call/cost.ts'
import { openEmbeddings } from '../runtime/knowledge/embeddings.ts'
import { ModelDownloads } from '../runtime/models/model-downloads.ts'
import { defaultProviders } from '../runtime/plugin/default-providers.ts'
import { parseInfrastructureRule } from '../runtime/plugin/grants/net-rule.ts'
import { refusals } from '../runtime/plugin/grants/refusals.ts'
import { closeInstance } from '../runtime/plugin/host.ts'
import { endingModels } from '../runtime/plugin/model-ends.ts'
import { createProviderHealth } from '../runtime/plugin/provider-health.ts'
import { createProviderVoices } from '../runtime/plugin/provider-voices.ts'
import type { RoleContext } from '../runtime/plugin/role.ts'
import { callMetrics } from '../runtime/process/metrics/call-metrics.ts'
import { measureDisk } from '../runtime/process/metrics/disk.ts'
import { hangUpMetrics } from '../runtime/process/metrics/hang-ups.ts'
import { lostRows } from '../runtime/process/metrics/lost-rows.ts'
import { processRegistry } from '../runtime/process/metrics/process-registry.ts'
import type { ResourceStack } from '../runtime/process/resource-stack.ts'
import { openArgumentChecks } from '../runtime/tools/argument-check.ts'
import type { McpClients } from '../runtime/tools/mcp/clients.ts'
import { openTraces, type Traces } from '../runtime/traces/open-traces.ts'
import { modelsInUse, providersInUse } from '../store/agents/agents.ts'
import { waitForStore } from '../store/connections/wait-for-store.ts'
import { openStore } from '../store/database/database.ts'
import { countPool } from '../store/database/pool-metrics.ts'
import { openVectors } from '../store/knowledge/vector-blob-store.ts'
import { openObjects } from '../store/objects/object-folder.ts'
import { createRedis } from '../store/redis/client.ts'
import { requestReload } from '../store/redis/reload.ts'
import { openProviderKeys } from '../workers/provider-keys.ts'
import { openQueue } from '../workers/queues.ts'
import { preparePasswords } from './auth/password.ts'
import { NO_OTHER_NODES, openRecordingsOfNodes } from './calls/recordings-of-nodes.ts'
import { resealAll } from './data-key.ts'
import { measureMaintenance } from './operator/maintenance.ts'
import { measurePools } from './operator/worker-pools.ts'
import { RequestLog } from './requests/request-log.ts'
import type { DataServices, PluginServices } from './services.ts'
import { McpTools } from './tools/mcp-tools.ts'
import { PluginTools } from './tools/plugin-tools.ts'
import { toolSecrets } from './tools/tool-calls.ts'

/** What everything else of an api node stands on. */
export interface Infrastructure extends RoleContext<EffectiveConfig>, DataServices, PluginServices {
  readonly registry: Registry
  readonly traces: Traces | undefined
  /** As this node is reached; before it listens a port that is any free one is 0. */
  readonly address: { publicUrl: string }
}

/** Opens the stores, the queues, and what providers and tools need. */
export async function openInfrastructure(
  context: RoleContext<EffectiveConfig>,
  opened: ResourceStack,
): Promise<Infrastructure> {
  const { config, plugins, clock, log } = context
  const counted = [
    refusals,
    admissionRefusals,
    admissionWaits,
    lostRows,
    ...Object.values(callMetrics),
    ...Object.values(hangUpMetrics),
  ]
  const registry = processRegistry('api', counted)
  const address = { publicUrl: config.publicUrl }
  const data = await openData(context, opened, address)
  countPool(registry, data.store)
  measureMaintenance(registry, data.store)
  measurePools(registry, data.redis)
  measureDisk(registry, config.dataDir)
  const argumentChecks = openArgumentChecks(log)
  opened.push(() => argumentChecks.close())
  let mcpClients: Promise<McpClients> | undefined
  const openMcpClients = async (): Promise<McpClients> => {
    const { McpClients } = await import('../runtime/tools/mcp/clients.ts')
    return new McpClients({ allowed: (config.toolsAllowNet ?? []).map(parseInfrastructureRule), clock })
  }
  const clients = () => {
    mcpClients ??= openMcpClients()
    return mcpClients
  }
  opened.push(async () => (await mcpClients)?.close())
  const box = toolSecrets(config)
  const traces = await openTraces(config, log)
  opened.push(() => traces?.stop())
  const providerHealth = createProviderHealth(plugins, log)
  const { dataDir, modelHub: hub } = config
  const arrived = async () => {
    await context.reloads.reload('models that were downloaded')
    await requestReload(data.redis)
  }
  const modelDownloads = context.hasOwnWorkers ? new ModelDownloads({ dataDir, hub, clock, log, arrived }) : undefined
  opened.push(() => modelDownloads?.stop())
  const defaults = defaultProviders(plugins, config)
  const byDefault = Object.values(defaults).map(({ provider }) => provider)
  providersInUse(data.store)
    .then((named) => providerHealth.announce([...byDefault, ...named]))
    .catch((err) => log.warn({ err }, 'The providers could not be checked'))
  modelsInUse(data.store)
    .then((uses) => {
      for (const { text, isOver, provider, model } of endingModels(plugins, uses, clock.nowMs())) {
        log[isOver ? 'error' : 'warn']({ provider, model }, `Agents use a model that ends: ${text}`)
      }
    })
    .catch((err) => log.warn({ err }, 'The models of the agents could not be checked'))
  return {
    ...context,
    ...data,
    ...{ registry, traces, address, argumentChecks, providerHealth, modelDownloads },
    defaultProviders: defaults,
    providerVoices: createProviderVoices(plugins, log),
    prices: await openPrices(context),
    mcpTools: new McpTools({ clients, pluginTools: new PluginTools(plugins), box, checks: argumentChecks, clock, log }),
  }
}

async function openData(
  context: RoleContext<EffectiveConfig>,
  opened: ResourceStack,
  address: Infrastructure['address'],
): Promise<DataServices> {
  const { config, databaseUrl, plugins, clock, log } = context
  const store = openStore({
    databaseUrl,
    onIdleError: (err) => log.warn({ err }, 'Database connection lost; reconnecting'),
  })
  opened.push(() => store.close())
  const redis = await createRedis(context.redisUrl, log)
  opened.push(() => redis.destroy())
  const requestLog = new RequestLog({ redis, clock, log })
  opened.push(() => requestLog.stop())
  await waitForStore(log, () => resealAll(store, config, log))
  const providerKeys = await openProviderKeys({ config, store, redis, plugins, log })
  opened.push(() => providerKeys.stop())
  const embeddings = await openEmbeddings(plugins, config.embedding, log)
  const vectors = await openVectors(plugins, store, embeddings?.identity)
  opened.push(() => closeInstance(vectors))
  const documentJobs = openQueue('documents', redis)
  opened.push(() => documentJobs.close())
  const batchJobs = openQueue('batches', redis)
  opened.push(() => batchJobs.close())
  await preparePasswords()
  const objects = await openObjects({ ...context, publicUrl: () => config.nodeUrl ?? address.publicUrl })
  const inFolder = plugins.chosen('objectstore') === 'local-files'
  const recordingsOfNodes = inFolder ? await openRecordingsOfNodes({ redis, objects, log }) : NO_OTHER_NODES
  opened.push(() => recordingsOfNodes.stop())
  const kept = { objects, recordingsOfNodes }
  return { store, databaseUrl, redis, providerKeys, ...kept, vectors, embeddings, documentJobs, batchJobs, requestLog }
}
