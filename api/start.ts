import { operationsAddress } from '../config/operations-address.ts'
import type { EffectiveConfig } from '../config/schema.ts'
import { admissionRefusals } from '../runtime/admission/refusals.ts'
import { admissionWaits } from '../runtime/admission/waits.ts'
import { Quotas } from '../runtime/call/control/quotas.ts'
import { loadPrices } from '../runtime/call/cost.ts'
import { Carriers } from '../runtime/dialing/carriers.ts'
import { loadCallingRules } from '../runtime/dialing/rules.ts'
import { loadPlaces } from '../runtime/dialing/zones.ts'
import { openEmbeddings } from '../runtime/knowledge/embeddings.ts'
import { inBackground } from '../runtime/lib/async/boundary.ts'
import { trustedProxies } from '../runtime/lib/client-address.ts'
import { defaultProviders } from '../runtime/plugin/default-providers.ts'
import { parseInfrastructureRule } from '../runtime/plugin/grants/net-rule.ts'
import { refusals } from '../runtime/plugin/grants/refusals.ts'
import { closeInstance } from '../runtime/plugin/host.ts'
import { endingModels } from '../runtime/plugin/model-ends.ts'
import { createProviderHealth } from '../runtime/plugin/provider-health.ts'
import { createProviderVoices } from '../runtime/plugin/provider-voices.ts'
import { openMailer } from '../runtime/process/mail.ts'
import { callMetrics } from '../runtime/process/metrics/call-metrics.ts'
import { lostRows } from '../runtime/process/metrics/lost-rows.ts'
import { processRegistry } from '../runtime/process/metrics/process-registry.ts'
import { startOperationsServer } from '../runtime/process/metrics/server.ts'
import { prepareSpawner } from '../runtime/process/offload/spawner.ts'
import { loopScheduling } from '../runtime/process/realtime.ts'
import { ResourceStack } from '../runtime/process/resource-stack.ts'
import type { Role, RoleContext } from '../runtime/process/role.ts'
import { openArgumentChecks } from '../runtime/tools/argument-check.ts'
import type { McpClients } from '../runtime/tools/mcp/clients.ts'
import { openTraces } from '../runtime/traces/open-traces.ts'
import { modelsInUse, providersInUse } from '../store/agents/agents.ts'
import { slotShares } from '../store/campaigns/slot-shares.ts'
import { openStore } from '../store/database/database.ts'
import { countPool } from '../store/database/pool-metrics.ts'
import { openVectors } from '../store/knowledge/vector-blob-store.ts'
import { openObjects } from '../store/objects/object-folder.ts'
import { createRedis } from '../store/redis/client.ts'
import { redisQuotaPlaces } from '../store/redis/quota-places.ts'
import { openSwitchboard, type Switchboard } from '../store/redis/switchboard.ts'
import { dialRulesOf } from '../store/telephony/dial-rules.ts'
import { storedQuotas } from '../store/workspaces/quotas.ts'
import { createDialCheck } from '../workers/dialer/before-dial.ts'
import { openQueue } from '../workers/queues.ts'
import { createAccessTokens } from './auth/access-token.ts'
import { createAuthenticator } from './auth/authenticate.ts'
import { createLoginThrottle } from './auth/login-throttle.ts'
import { createOperators } from './auth/operators.ts'
import { preparePasswords } from './auth/password.ts'
import { SecurityLog } from './auth/security-log.ts'
import { signupNotice } from './auth/signup-notice.ts'
import { StandingRights } from './auth/standing-rights.ts'
import { startInbound } from './calls/inbound.ts'
import { startOutbound } from './calls/outbound-start.ts'
import { startRecorder } from './calls/recorder.ts'
import { runCampaignTool } from './campaigns/tools.ts'
import { openConsole } from './console/console.ts'
import { resealAll } from './data-key.ts'
import { openLive } from './events/live.ts'
import { errorReply, requestIdOf, standingHeaders } from './http/reply.ts'
import { startServer } from './http/server.ts'
import { answerAsks } from './knowledge/ask.ts'
import {
  countCarrierRefusals,
  countLinkDrops,
  countLiveCalls,
  countRefusedCalls,
  measureTrunks,
  measureWebRtc,
  observeAnswers,
} from './metrics.ts'
import { listenForWorkerDrains } from './operator/worker-drains.ts'
import { diagnoseAudio } from './realtime/audio-diagnosis.ts'
import { createSessions } from './realtime/start.ts'
import { diagnoseWebRtc } from './realtime/webrtc/diagnosis.ts'
import { workloadOf } from './reports/workload.ts'
import { createRequestPath } from './request.ts'
import { RequestLog } from './requests/request-log.ts'
import { routes } from './routes.ts'
import type { Services } from './services.ts'
import { listenRoute } from './supervision/socket.ts'
import { SupervisorLink } from './supervision/supervisor-link.ts'
import { readinessOf } from './system/readiness.ts'
import { doorOf, streamRoutes } from './telephony/web.ts'
import { McpTools } from './tools/mcp-tools.ts'
import { createToolCalls, toolSecrets } from './tools/tool-calls.ts'
import { openTrunkBook } from './trunks/book.ts'

/** Starts an api node: REST, realtime sessions and the link to the voice workers. The database is migrated. */
export async function startApi(context: RoleContext<EffectiveConfig>): Promise<Role> {
  const { log, clock } = context
  const opened = new ResourceStack('api', log)
  // For what will read uploads.
  prepareSpawner()
  try {
    const store = openStore({
      databaseUrl: context.databaseUrl,
      onIdleError: (err) => log.warn({ err }, 'Database connection lost; reconnecting'),
    })
    opened.push(() => store.close())
    const redis = await createRedis(context.redisUrl, log)
    opened.push(() => redis.destroy())
    const requestLog = new RequestLog({ redis, clock, log })
    opened.push(() => requestLog.stop())
    await resealAll(store, context.config, log)
    const embeddings = await openEmbeddings(context.plugins, context.config.embedding, log)
    const vectors = await openVectors(context.plugins, store, embeddings?.identity)
    opened.push(() => closeInstance(vectors))
    const documentJobs = openQueue('documents', redis)
    opened.push(() => documentJobs.close())
    const batchJobs = openQueue('batches', redis)
    opened.push(() => batchJobs.close())
    await preparePasswords()

    const counted = [refusals, admissionRefusals, admissionWaits, lostRows, ...Object.values(callMetrics)]
    const registry = processRegistry('api', counted)
    const providerHealth = createProviderHealth(context.plugins, log)
    const defaults = defaultProviders(context.plugins, context.config)
    const byDefault = Object.values(defaults).map(({ provider }) => provider)
    providersInUse(store)
      .then((named) => providerHealth.announce([...byDefault, ...named]))
      .catch((err) => log.warn({ err }, 'The providers could not be checked'))
    modelsInUse(store)
      .then((uses) => {
        for (const { text, isOver, provider, model } of endingModels(context.plugins, uses, Date.now())) {
          log[isOver ? 'error' : 'warn']({ provider, model }, `Agents use a model that ends: ${text}`)
        }
      })
      .catch((err) => log.warn({ err }, 'The models of the agents could not be checked'))
    const [rules, places] = await Promise.all([loadCallingRules(context.config.callingRules), loadPlaces()])
    const calling = { rules, places }
    const argumentChecks = openArgumentChecks(log)
    opened.push(() => argumentChecks.close())
    let mcpClients: Promise<McpClients> | undefined
    const openMcpClients = async (): Promise<McpClients> => {
      const { McpClients } = await import('../runtime/tools/mcp/clients.ts')
      return new McpClients({ allowed: (context.config.toolsAllowNet ?? []).map(parseInfrastructureRule), clock })
    }
    const clients = () => {
      mcpClients ??= openMcpClients()
      return mcpClients
    }
    opened.push(async () => (await mcpClients)?.close())
    const box = toolSecrets(context.config.dataKey)
    const mcpTools = new McpTools({ clients, box, checks: argumentChecks, clock, log })
    const traces = await openTraces(context.config, log)
    opened.push(() => traces?.stop())
    const tools = createToolCalls({
      mcp: mcpTools,
      requests: traces?.requests,
      config: context.config,
      store,
      log,
      checks: argumentChecks,
      ofCampaign: (callId, name, input) => runCampaignTool({ store, calling, clock }, callId, name, input),
      calls: () => sessions.calls,
      carriers: () => carriers,
    })
    const answers = answerAsks({ store, vectors, embeddings, tools })
    const prices = await loadPrices(context.plugins, context.config.pricesFile)
    // Replaced below, before anyone can ask: port 0 is known only then.
    let config = context.config
    const objects = await openObjects({ ...context, publicUrl: () => config.publicUrl })
    const recorder = await startRecorder({ ...context, store, redis, objects })
    opened.push((graceMs) => recorder.stop(graceMs))
    const { record } = recorder
    const quotaSource = storedQuotas(store, {
      webSessionsPerWorkspace: context.config.webSessionsPerWorkspace ?? null,
    })
    const quotas = new Quotas(redisQuotaPlaces(redis), quotaSource, log)
    opened.push(() => quotas.stop())
    const shares = slotShares(context.config, { store, clock, log })
    const operators = createOperators(context.config.operators ?? [])
    const standing = new StandingRights({ store, operators, log })
    opened.push(() => standing.stop())
    const nodeUrl = () => config.nodeUrl ?? config.publicUrl
    const sessions = createSessions({
      ...{
        config,
        env: context.env,
        nodeUrl,
        store,
        prices,
        redis,
        quotas,
        shares,
        standing,
        answers,
        mcpTools,
        record,
        clock,
        log,
      },
      traces: traces?.calls,
      dropped: countLinkDrops(registry),
    })
    opened.push(() => sessions.stop(0))
    const workerDrains = await listenForWorkerDrains(redis, sessions, log)
    opened.push(() => workerDrains.stop())
    const trunks = await openTrunkBook({ config: context.config, store, redis, clock, log })
    opened.push(() => trunks.close())
    const carriers = new Carriers(
      context.plugins,
      trunks,
      (provider) => doorOf(config, provider),
      (workspaceId) => dialRulesOf(store, workspaceId),
    )
    opened.push(() => carriers.close())
    const mayDial = createDialCheck({ calling, clock, toolsAllowNet: context.config.toolsAllowNet })
    const outbound = await startOutbound({ ...context, store, redis, sessions, carriers, mayDial, mcpTools, quotas })
    opened.push(() => outbound.stop())
    const servesConsole = context.consoleFolder && openConsole(context.consoleFolder, log)
    const live = await openLive({ store, redis, publicUrl: () => config.publicUrl, log })
    const atCalls = { calls: sessions.calls, tools, store, clock, log }
    const switchboard: Switchboard = await openSwitchboard(redis, log, (join) => {
      SupervisorLink.join(atCalls, join, (handlers) => switchboard.open(join.line, 'inner', handlers)).catch((err) =>
        log.warn({ err, callId: join.callId }, 'Could not connect a supervisor to a call'),
      )
    })
    opened.push(() => switchboard.stop())
    const server = await startServer({
      host: context.config.host,
      port: context.config.port,
      handle: (incoming) => (servesConsole?.(incoming) ? undefined : handle(incoming)),
      webSockets: [
        ...sessions.routes,
        listenRoute({
          ...{ redis, standing, clock, log },
          switchboard: () => switchboard,
          calls: live.calls,
          webrtc: sessions.webrtc,
        }),
        ...streamRoutes({
          ...{ plugins: context.plugins, carriers },
          isTrustedProxy: trustedProxies(config.trustedProxies ?? []),
        }),
      ],
      refuse: (error, request) => errorReply(error, request.requestId, log),
      requestId: requestIdOf,
      headers: standingHeaders(context.config.publicUrl),
    })
    opened.push((graceMs) => server.close(graceMs))
    // A stream has no end of its own that the server could wait for.
    opened.push(() => live.stop())
    opened.push(() => outbound.stop())
    // Who asks meanwhile is answered: health and readiness, hang-ups, the media of calls that were just picked up.
    opened.push(async (graceMs) => {
      const startedAtMs = clock.monotonicMs()
      await outbound.drain(graceMs)
      await sessions.stop(Math.max(0, graceMs - (clock.monotonicMs() - startedAtMs)))
    })
    // No request can come before this turn of the event loop is over.
    config = {
      ...context.config,
      publicUrl: withPort(context.config.publicUrl, context.config.port, server.port),
    }
    const callsIn = new AbortController()
    opened.push(() => callsIn.abort())
    countPool(registry, store)
    countLiveCalls(registry, { sessions, outbound })
    const refusedCalls = countRefusedCalls(registry)
    const { catalogue, missingKey } = context.plugins
    const usable = [...catalogue.telephony.keys()].filter((name) => missingKey(name) === undefined)
    countCarrierRefusals(registry, carriers, usable)
    measureTrunks(registry, carriers)
    measureWebRtc(registry, sessions)
    startInbound(
      {
        ...context,
        requests: traces?.requests,
        store,
        carriers,
        trunks,
        mcpTools,
        calls: sessions.calls,
        quotas,
        journalOf: sessions.journalOf,
        limits: { idleMs: config.idleTimeoutMs, maxDurationMs: config.maxCallDurationMs },
        refused: (provider, reason) => refusedCalls.inc({ provider, reason }),
      },
      callsIn.signal,
    )
    const liveCalls = (): number => sessions.calls.size + outbound.ringing()
    const readiness = readinessOf({ store, redis, sessions, clock })
    const operations = await startOperationsServer({
      ...operationsAddress(context.config, 'api'),
      registry,
      ready: async () => {
        const found = await readiness()
        return { ready: found.status === 'ready', ...found, workers: sessions.workers().length }
      },
      drain: () => {
        context.requestStop('drain')
        return { calls: liveCalls() }
      },
      diagnose: async (topic, signal) => {
        if (topic === 'audio') return diagnoseAudio(loopScheduling(), config.audioFirst)
        return topic === 'webrtc' ? diagnoseWebRtc(sessions.webrtc) : (await carriers.get(topic)).diagnose?.(signal)
      },
    })
    opened.push(() => operations.close())
    const security = new SecurityLog({ store, clock, log })
    const mailer = config.smtpUrl === undefined ? undefined : await openMailer(config.smtpUrl, config.mailFrom)
    opened.push(() => mailer?.close())
    const accessTokens = createAccessTokens(config.jwtApiSecret, config.accessTokenTtlS, clock)
    const services: Services = {
      config,
      log,
      clock,
      store,
      databaseUrl: context.databaseUrl,
      redis,
      plugins: context.plugins,
      defaultProviders: defaults,
      providerHealth,
      providerVoices: createProviderVoices(context.plugins, log),
      prices,
      carriers,
      trunks,
      sessions,
      readiness,
      workload: workloadOf({ redis, config, clock, log }),
      requestLog,
      live,
      outbound,
      vectors,
      embeddings,
      argumentChecks,
      tools,
      mcpTools,
      handle: (incoming) => handle(incoming),
      calling,
      documentJobs,
      batchJobs,
      objects,
      accessTokens,
      operators,
      standing,
      throttle: createLoginThrottle(redis, ({ kind, address, requestId }) => {
        const event = { kind: 'locked_out', userId: null, account: '', detail: { attempts_at: kind } } as const
        inBackground('http', security.note({ clientAddress: address, id: requestId }, event))
      }),
      security,
      mailer,
      isTrustedProxy: trustedProxies(config.trustedProxies ?? []),
    }
    const authenticator = createAuthenticator(store, accessTokens)
    const handle = createRequestPath({
      ...{ routes, services, authenticator, requestLog, log },
      observe: observeAnswers(registry),
      requests: traces?.requests,
    })

    const notice = await signupNotice(services)
    return {
      name: 'api',
      url: `http://127.0.0.1:${server.port}`,
      notice,
      leave: () => sessions.leave(),
      calls: liveCalls,
      stop: (graceMs) => opened.close(graceMs),
    }
  } catch (error) {
    await opened.close(0)
    throw error
  }
}

/** The public address with the port that was really opened, where any free one was asked for. */
function withPort(publicUrl: string, asked: number, port: number): string {
  if (asked !== 0) return publicUrl
  const url = new URL(publicUrl)
  if (url.port === '0') url.port = String(port)
  return url.href.replace(/\/$/, '')
}
