import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { makeAgent } from '../../../scripts/demo/call.ts'
import { ensureBuilt } from '../../../web/console/ensure-built.ts'
import { openWebCall } from '../../support/browser/web-call.ts'
import { Pod, sandboxMissing } from '../../support/instance/pod.ts'
import { startPlainRedis } from '../../support/instance/redis-pair.ts'
import { testDatabase } from '../../support/instance/services.ts'
import { freePort } from '../../support/sip/sip-peers.ts'
import { type Manifest, readManifestFile } from '../../support/source/manifests.ts'
import { startFaultProxy } from '../../support/world/fault-proxy.ts'
import { waitUntil } from '../../support/world/wait-until.ts'

const BASE = join(import.meta.dirname, '../../../deploy/kubernetes/base')
const SECRET = {
  JWT_API_SECRET: 'of-the-secret-of-the-secret-of-the-secret',
  PATCHBAY_DATA_KEY: 'of-the-secret-of-the-secret-of-the-secret',
  PATCHBAY_LINK_TOKEN: 'of-the-secret-of-the-secret',
}
const LIMIT_MS = 600_000

/** The manifests, with stores behind TCP: a pod reaches no socket of its machine. */
async function startCluster(t: Test) {
  const [settings] = await readManifestFile(join(BASE, 'settings.yaml'))
  const manifests = (
    await Promise.all(['api', 'jobs', 'voice'].map((name) => readManifestFile(join(BASE, `${name}.yaml`))))
  ).flat()
  const services = manifests.filter(({ kind }) => kind === 'Service')
  t.ok(services.some(({ metadata }) => metadata.name === 'patchbay'))
  // The image has it; a root that is read-only can't be built in.
  await ensureBuilt(new AbortController().signal, () => {})
  const direct = new URL(await testDatabase(t))
  const database = await startFaultProxy(t, { path: join(direct.searchParams.get('host') ?? '', '.s.PGSQL.5432') })
  const redis = await startPlainRedis(t)
  const cache = await startFaultProxy(t, { path: redis.socketPath })
  const stores = {
    DATABASE_URL: `postgres://${direct.username}@127.0.0.1:${database.port}${direct.pathname}`,
    REDIS_URL: `redis://127.0.0.1:${cache.port}`,
  }
  const port = await freePort()
  // A machine's own ports, which the pod that follows gets as well.
  const ports = { PORT: String(port), PATCHBAY_SIP_PORT: '0' }
  const variables = { api: 'PATCHBAY_ADMIN_PORT', jobs: 'PATCHBAY_JOBS_ADMIN_PORT', voice: 'PATCHBAY_VOICE_ADMIN_PORT' }
  return {
    url: `http://127.0.0.1:${port}`,
    async pod(role: 'api' | 'jobs' | 'voice'): Promise<Pod> {
      const workload = manifests.find(({ kind, metadata }) => kind !== 'Service' && metadata.name === role) as Manifest
      const adminPort = await freePort()
      return Pod.start(t, {
        ...{ workload, services, adminPort },
        settings: { ...settings?.data, ...SECRET, ...(role === 'voice' ? {} : stores) },
        env: {
          ...{ ...(role === 'api' ? ports : {}), [variables[role]]: String(adminPort) },
          ...{ PUBLIC_URL: `http://127.0.0.1:${port}`, PATCHBAY_SIGNUP: 'open' },
          ...{ PATCHBAY_API_URLS: `ws://127.0.0.1:${port}`, PATCHBAY_LEAVE_MS: '1000' },
        },
      })
    },
  }
}

t.test('pods of the manifests are rolled and drained under live calls', { timeout: LIMIT_MS }, async (t) => {
  if (sandboxMissing !== undefined) t.comment(`with the rights of the test: ${sandboxMissing}`)
  const cluster = await startCluster(t)
  const api = await cluster.pod('api')
  await waitUntil(() => api.probe('livenessProbe'), api.process.output)
  t.equal(await api.probe('readinessProbe'), false, 'no voice worker is linked yet')
  const [voice, jobs] = await Promise.all([cluster.pod('voice'), cluster.pod('jobs')])
  await Promise.all([api, voice, jobs].map((pod) => pod.ready()))
  for (const pod of [api, voice, jobs]) {
    t.match(pod.process.output(), 'Variables that Kubernetes sets for Services are no settings')
    t.notMatch(pod.process.output(), /EROFS|EACCES|EPERM|is not a setting/)
    if (sandboxMissing === undefined) {
      const status = await readFile(`/proc/${pod.process.child.pid}/status`, 'utf8')
      t.match(status, /^Uid:\s+1000\b/m)
      t.match(status, /^CapEff:\s+0+$/m)
    }
  }
  t.same(await jobs.terminate(), { code: 0, isKilled: false }, 'a job worker without jobs ends at once')

  const { rest, agentId } = await makeAgent(cluster.url)
  const first = await openWebCall(rest, agentId)
  const isEnded = { first: false, second: false }
  first.told.once('closed', () => {
    isEnded.first = true
  })

  // A rolling update of the voice workers: one more, and when that is ready the old one goes.
  const newer = await cluster.pod('voice')
  await newer.ready()
  const oldVoiceGone = voice.terminate()
  await voice.ready(false)
  const second = await openWebCall(rest, agentId)
  second.told.once('closed', () => {
    isEnded.second = true
  })
  t.same([voice.isRunning, isEnded.first], [true, false], 'the old worker serves its call')

  // The machine of the api node is drained.
  const oldApiGone = api.terminate()
  await api.ready(false)
  t.ok(await api.probe('livenessProbe'), 'it is not taken for dead')
  const answered = once(second.told, 'transcript')
  second.session.send({ type: 'text', text: 'What time do you open?' })
  await answered
  t.same(isEnded, { first: false, second: false }, 'calls go on')
  t.ok(api.isRunning)
  for (const call of [first, second]) {
    call.session.send({ type: 'end' })
    t.match(await call.ended, [{ reason: 'caller_hangup' }])
  }
  t.same(await oldApiGone, { code: 0, isKilled: false }, 'it ends with its last call')
  t.same(await oldVoiceGone, { code: 0, isKilled: false })

  // Its successor has its name; the voice worker that was there finds it.
  const successor = await cluster.pod('api')
  await successor.ready()
  const third = await openWebCall(rest, agentId)
  third.session.send({ type: 'end' })
  t.match(await third.ended, [{ reason: 'caller_hangup' }])
  const ends = async () => {
    const { items } = await rest.send<{ items: { status: string; end_reason: string }[] }>('GET', '/calls/logs')
    return items.map(({ status, end_reason: why }) => `${status} ${why}`)
  }
  // The caller hears of the end before the log has it.
  await waitUntil(async () => (await ends()).filter((end) => end.startsWith('completed')).length === 3)
  t.same(await ends(), Array(3).fill('completed caller_hangup'))
  t.same(await newer.terminate(), { code: 0, isKilled: false })
  t.same(await successor.terminate(), { code: 0, isKilled: false })
  for (const pod of [api, voice, newer, successor]) t.notMatch(pod.process.output(), /EROFS|EACCES|EPERM/)
})
