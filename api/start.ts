import { operationsAddress } from '../config/operations-address.ts'
import type { EffectiveConfig } from '../config/schema.ts'
import type { Role, RoleContext } from '../runtime/plugin/role.ts'
import { startOperationsServer } from '../runtime/process/metrics/server.ts'
import { prepareSpawner } from '../runtime/process/offload/spawner.ts'
import { loopScheduling } from '../runtime/process/realtime.ts'
import { ResourceStack } from '../runtime/process/resource-stack.ts'
import { diagnoseDatabase } from '../store/database/extension.ts'
import { listenForReloads } from '../store/redis/reload.ts'
import { signupNotice } from './auth/signup-notice.ts'
import { openHttp } from './open-http.ts'
import { openInfrastructure } from './open-infrastructure.ts'
import { openSessions } from './open-sessions.ts'
import { openTelephony } from './open-telephony.ts'
import { diagnoseAudio } from './realtime/audio-diagnosis.ts'
import { diagnoseWebRtc } from './realtime/webrtc/diagnosis.ts'

/** Starts an api node: REST, realtime sessions and the link to the voice workers. The database is migrated. */
export async function startApi(context: RoleContext<EffectiveConfig>): Promise<Role> {
  const { clock, log } = context
  const opened = new ResourceStack('api', log)
  // For what will read uploads.
  prepareSpawner()
  try {
    const infrastructure = await openInfrastructure(context, opened)
    const telephony = await openTelephony(infrastructure, opened)
    const live = await openSessions({ ...infrastructure, ...telephony }, opened)
    const { services, port } = await openHttp({ ...infrastructure, ...telephony, ...live }, opened)
    const { sessions, outbound, readiness } = services
    const reloadRequests = await listenForReloads(services.redis, log, async (reason) => {
      await context.reloads.reload(reason)
      sessions.reloadWorkers()
    })
    opened.push(() => reloadRequests.stop())
    opened.push(() => outbound.stop())
    // Who asks meanwhile is answered: health and readiness, hang-ups, the media of calls that were just picked up.
    opened.push(async (graceMs) => {
      const startedAtMs = clock.monotonicMs()
      await outbound.drain(graceMs)
      await sessions.stop(Math.max(0, graceMs - (clock.monotonicMs() - startedAtMs)))
    })
    live.takeInbound()
    const calls = (): number => sessions.calls.size + outbound.ringing()
    const operations = await startOperationsServer({
      ...operationsAddress(context.config, 'api'),
      registry: infrastructure.registry,
      ready: async () => {
        const found = await readiness()
        const warning = await services.recordingsOfNodes.warning().catch(() => undefined)
        const recordings = warning === undefined ? {} : { recordings: warning }
        return { ready: found.status === 'ready', ...found, workers: sessions.workers().length, ...recordings }
      },
      drain: () => {
        context.requestStop('drain')
        return { calls: calls() }
      },
      reload: () => context.reloads.reload('patchbay reload'),
      diagnose: async (topic, signal) => {
        if (topic === 'audio') return diagnoseAudio(loopScheduling(), context.config.audioFirst)
        if (topic === 'database') return diagnoseDatabase(infrastructure.store)
        if (topic === 'webrtc') return diagnoseWebRtc(sessions.webrtc)
        return (await telephony.carriers.get(topic)).diagnose?.(signal)
      },
    })
    opened.push(() => operations.close())
    const notice = await signupNotice(services)
    return {
      name: 'api',
      url: `http://127.0.0.1:${port}`,
      notice,
      leave: () => {
        sessions.leave()
        telephony.carriers.leave()
      },
      calls,
      stop: (graceMs) => opened.close(graceMs),
    }
  } catch (error) {
    await opened.close(0)
    throw error
  }
}
