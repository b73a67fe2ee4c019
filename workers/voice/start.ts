import { hostname } from 'node:os'
import { operationsAddress } from '../../config/operations-address.ts'
import type { EffectiveConfig } from '../../config/schema.ts'
import { workerAlias } from '../../runtime/call/control/worker-alias.ts'
import type { WorkerState } from '../../runtime/call/link/messages.ts'
import { connectLinks, type Links } from '../../runtime/call/link/worker-end.ts'
import { conversations } from '../../runtime/conversation/conversations.ts'
import { Breakers } from '../../runtime/conversation/providers/breaker.ts'
import { loadModels } from '../../runtime/conversation/providers/models.ts'
import { identityIn } from '../../runtime/conversation/providers/providers.ts'
import { WarmProviders } from '../../runtime/conversation/providers/warm-providers.ts'
import { Fillers } from '../../runtime/conversation/speaking/fillers.ts'
import { createWorkerMetrics } from '../../runtime/conversation/worker-metrics.ts'
import { inBackground } from '../../runtime/lib/async/boundary.ts'
import { Pacer } from '../../runtime/media/line/pacer.ts'
import { createProviderHealth } from '../../runtime/plugin/provider-health.ts'
import type { Role, VoiceContext } from '../../runtime/plugin/role.ts'
import { startOperationsServer } from '../../runtime/process/metrics/server.ts'
import { ResourceStack } from '../../runtime/process/resource-stack.ts'
import { watchLoad } from './load.ts'
import { surviveStrayErrors } from './survive.ts'
import { workerName } from './worker-name.ts'

/** @livekit/agents writes its own lines; only what is worth an operator's attention, unless all is asked for. */
const LIBRARY_LOG_LEVELS: Readonly<Record<string, string>> = { trace: 'debug', debug: 'info' }

/**
 * Starts a voice worker: loads the models, serves its metrics, dials the api nodes and runs the conversations they
 * offer. Resolves once it dials them. Needs no database and no Redis.
 */
export async function startVoice(context: VoiceContext<EffectiveConfig>): Promise<Role> {
  const { config, plugins, log, clock, signal } = context
  const workerId = workerName(hostname(), process.pid)
  // `ps` shows which process a call's events mean; who has no access to the machine sees but the name.
  process.title = ['main.ts', ...process.argv.slice(2), workerAlias(workerId)].join(' ')
  const opened = new ResourceStack('voice', log)
  try {
    let links: Links | undefined
    const load = watchLoad(config.workerMaxLagMs, clock)
    opened.push(() => load.stop())
    const state = (): WorkerState => (load.overloaded ? 'overloaded' : 'ready')
    let stopping = false
    const stateNow = (): WorkerState => (stopping ? 'draining' : state())
    const drain = (): void => {
      if (!stopping) log.info('An operator drains this voice worker: it ends once its calls are over')
      stopping = true
      context.requestStop('drain')
    }
    let capacity = config.workerCapacity
    const reload = (reason: string) => context.reloads.reload(reason)
    context.reloads.watch(async (next) => () => {
      capacity = next.workerCapacity
    })
    const metrics = createWorkerMetrics(
      { workerId, pool: config.workerPool },
      () => capacity,
      config.otlpEndpoint !== undefined,
      () => ({
        state: stateNow(),
        activeSessions: links?.activeSessions() ?? 0,
        cpuUtilization: load.cpuUtilization,
        memoryBytes: process.memoryUsage.rss(),
        eventLoopLagMs: load.eventLoopLagMs,
        eventLoopLagLimitMs: load.limitMs,
      }),
    )
    opened.push(
      surviveStrayErrors((err) => {
        metrics.failure('process')
        log.error({ err }, 'Unhandled error; the worker continues')
      }),
    )
    const models = await loadModels(LIBRARY_LOG_LEVELS[config.logLevel] ?? 'error')
    const server = await startOperationsServer({
      ...operationsAddress(config, 'voice'),
      registry: metrics.registry,
      ready: async () => {
        const nodes = links?.connectedNodes() ?? 0
        const status = stopping ? 'draining' : nodes === 0 ? 'not_ready' : 'ready'
        return { ready: status === 'ready', status, linked_nodes: nodes, state: stateNow() }
      },
      drain: () => {
        drain()
        return { calls: links?.activeSessions() ?? 0 }
      },
      reload: () => reload('patchbay reload'),
    })
    opened.push(() => server.close())
    const breakers = new Breakers()
    const identityOf = identityIn(plugins)
    const warm = new WarmProviders({ source: plugins, identityOf, breakers, clock, log })
    opened.push(() => warm.close())
    const openConversation = conversations({
      providers: plugins,
      identityOf,
      warm,
      breakers,
      fillers: new Fillers(),
      random: Math.random,
      models,
      pacer: new Pacer(clock, (err) => log.error({ err }, 'A conversation failed at its tick')),
      clock,
      log,
      observer: metrics,
      traced: config.otlpEndpoint !== undefined,
    })
    links = connectLinks({
      urls: config.apiUrls,
      token: config.linkToken,
      workerId,
      get capacity() {
        return capacity
      },
      metricsUrl: server.metricsUrl,
      pool: config.workerPool,
      openConversation: async (open, port) => {
        const conversation = await openConversation(open, port)
        metrics.sessionOpened()
        return conversation
      },
      warm: (callId, agent, keys) => warm.open(callId, agent, keys),
      drain,
      keys: (stored) => plugins.keys.use(stored),
      // The log has why one was refused.
      reload: () =>
        inBackground(
          'link',
          reload('an operator').then(
            () => {},
            () => {},
          ),
        ),
      state: stateNow,
      dropped: metrics.linkDropped,
      clock,
      random: Math.random,
      log,
      signal,
    })
    const running = links
    inBackground('call', createProviderHealth(plugins, log).announce([]))
    return {
      name: 'voice',
      serving: running.welcomed,
      leave() {
        stopping = true
      },
      calls: () => running.activeSessions(),
      async stop(graceMs) {
        stopping = true
        await running.stop(graceMs)
        await opened.close(0)
      },
    }
  } catch (error) {
    await opened.close(0)
    throw error
  }
}
