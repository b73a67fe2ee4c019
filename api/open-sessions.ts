import { Quotas } from '../runtime/call/control/quotas.ts'
import { SPEECH_KINDS } from '../runtime/plugin/default-providers.ts'
import type { ResourceStack } from '../runtime/process/resource-stack.ts'
import { slotShares } from '../store/campaigns/slot-shares.ts'
import { redisQuotaPlaces } from '../store/redis/quota-places.ts'
import { openSwitchboard, type Switchboard } from '../store/redis/switchboard.ts'
import { storedQuotas } from '../store/workspaces/quotas.ts'
import { createDialCheck } from '../workers/dialer/before-dial.ts'
import { createOperators, type Operators } from './auth/operators.ts'
import { StandingRights } from './auth/standing-rights.ts'
import { startInbound } from './calls/inbound.ts'
import { startOutbound } from './calls/outbound-start.ts'
import { startRecorder } from './calls/recorder.ts'
import { runCampaignTool, toolsOfCampaign } from './campaigns/tools.ts'
import { openLive } from './events/live.ts'
import { answerAsks } from './knowledge/ask.ts'
import { countLinkDrops, countLiveCalls, countRefusedCalls, measureWebRtc } from './metrics.ts'
import type { Infrastructure } from './open-infrastructure.ts'
import { listenForWorkerDrains } from './operator/worker-drains.ts'
import { createSessions } from './realtime/start.ts'
import type { LiveServices, TelephonyServices } from './services.ts'
import { SupervisorLink } from './supervision/supervisor-link.ts'
import { createToolCalls } from './tools/tool-calls.ts'

/** The calls of an api node, and who watches over them. */
export interface OpenedSessions extends LiveServices {
  readonly switchboard: Switchboard
  readonly operators: Operators
  /** Takes the calls that come in over the carriers, until the node stops. */
  takeInbound(): void
}

/** Opens the calls of this node: the link to the voice workers, the legs, and what places, records and supervises calls. */
export async function openSessions(
  services: Infrastructure & TelephonyServices,
  opened: ResourceStack,
): Promise<OpenedSessions> {
  const { config, address, registry, plugins, store, redis, carriers, calling, mcpTools, clock, log } = services
  const requests = services.traces?.requests
  const tools = createToolCalls({
    ...{ config, store, log, requests, mcp: mcpTools, checks: services.argumentChecks },
    ofCampaign: (callId, name, input) => runCampaignTool({ store, calling, clock }, callId, name, input),
    campaignTools: (callId, own) => toolsOfCampaign(store, callId, own),
    clock,
    calls: () => sessions.calls,
    carriers: () => carriers,
  })
  const recorder = await startRecorder(services)
  opened.push((graceMs) => recorder.stop(graceMs))
  const limits = { webSessionsPerWorkspace: config.webSessionsPerWorkspace ?? null }
  const quotas = new Quotas(redisQuotaPlaces(redis), storedQuotas(store, limits), log)
  opened.push(() => quotas.stop())
  const operators = createOperators(config.operators ?? [])
  const standing = new StandingRights({ store, operators, log })
  opened.push(() => standing.stop())
  const sessions = createSessions({
    ...{ config, env: services.env, store, prices: services.prices, redis, quotas, standing, mcpTools, clock, log },
    nodeUrl: () => config.nodeUrl ?? address.publicUrl,
    shares: slotShares(config, { store, clock, log }),
    answers: answerAsks({ ...services, tools }),
    record: recorder.record,
    keys: () =>
      plugins.keys.storedFor(
        [...SPEECH_KINDS, 'realtime' as const].flatMap((kind) => [...plugins.catalogue[kind].keys()]),
      ),
    ownKeys: plugins.keys,
    traces: services.traces?.calls,
    dropped: countLinkDrops(registry),
  })
  opened.push(() => sessions.stop(0))
  plugins.keys.watch(() => sessions.sendKeys())
  const workerDrains = await listenForWorkerDrains(redis, sessions, log)
  opened.push(() => workerDrains.stop())
  const mayDial = createDialCheck({ calling, clock, toolsAllowNet: config.toolsAllowNet })
  const outbound = await startOutbound({ ...services, sessions, mayDial, quotas })
  opened.push(() => outbound.stop())
  const live = await openLive({ store, redis, publicUrl: () => address.publicUrl, log })
  const atCalls = { calls: sessions.calls, tools, clock, log }
  const switchboard: Switchboard = await openSwitchboard(redis, log, (join) => {
    SupervisorLink.join(atCalls, join, (handlers) => switchboard.open(join.line, 'inner', handlers)).catch((err) =>
      log.warn({ err, callId: join.callId }, 'Could not connect a supervisor to a call'),
    )
  })
  opened.push(() => switchboard.stop())
  countLiveCalls(registry, { sessions, outbound })
  measureWebRtc(registry, sessions)
  const takeInbound = () => {
    const callsIn = new AbortController()
    opened.push(() => callsIn.abort())
    const refusedCalls = countRefusedCalls(registry)
    const duration = { idleMs: config.idleTimeoutMs, maxDurationMs: config.maxCallDurationMs }
    const refused = (provider: string, reason: string) => refusedCalls.inc({ provider, reason })
    const { calls, journalOf } = sessions
    startInbound({ ...services, requests, calls, quotas, journalOf, limits: duration, refused }, callsIn.signal)
  }
  return { sessions, outbound, tools, live, standing, switchboard, operators, takeInbound }
}
