import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { startRole } from '../../support/instance/instance.ts'
import { startPlainRedis } from '../../support/instance/redis-pair.ts'
import { testDatabase } from '../../support/instance/services.ts'
import { type Manifest, readManifestFile, serviceLinks } from '../../support/source/manifests.ts'
import { startFaultProxy } from '../../support/world/fault-proxy.ts'
import { waitUntil } from '../../support/world/wait-until.ts'

const BASE = join(import.meta.dirname, '../../../deploy/kubernetes/base')
const SECRET = {
  JWT_API_SECRET: 'of-the-secret-of-the-secret-of-the-secret',
  PATCHBAY_DATA_KEY: 'of-the-secret-of-the-secret-of-the-secret',
  PATCHBAY_LINK_TOKEN: 'of-the-secret-of-the-secret',
}

/** The environment a pod's container gets, with the Services' variables that a template without `enableServiceLinks: false` would add. */
function podEnvironment(template: Manifest, settings: Record<string, string>, services: readonly Manifest[]) {
  const env: Record<string, string> = { ...settings, POD_IP: '127.0.0.1' }
  for (const { name, value } of template.spec.containers[0].env as { name: string; value?: string }[]) {
    if (value !== undefined) env[name] = value.replaceAll('$(POD_IP)', env.POD_IP ?? '')
  }
  return Object.assign(env, ...services.map((service) => serviceLinks(service)))
}

t.test('each role starts in what its manifest gives it, is probed, and stops within its grace', async (t) => {
  const [settings] = await readManifestFile(join(BASE, 'settings.yaml'))
  const manifests = (
    await Promise.all(['api', 'jobs', 'voice'].map((name) => readManifestFile(join(BASE, `${name}.yaml`))))
  ).flat()
  const services = manifests.filter(({ kind }) => kind === 'Service')
  t.ok(services.some(({ metadata }) => metadata.name === 'patchbay'))
  const direct = new URL(await testDatabase(t))
  const database = await startFaultProxy(t, { path: join(direct.searchParams.get('host') ?? '', '.s.PGSQL.5432') })
  const redis = await startPlainRedis(t)
  const cache = await startFaultProxy(t, { path: redis.socketPath })
  const stores = {
    DATABASE_URL: `postgres://${direct.username}@127.0.0.1:${database.port}${direct.pathname}`,
    REDIS_URL: `redis://127.0.0.1:${cache.port}`,
  }
  let apiUrl = ''
  for (const role of ['api', 'jobs', 'voice'] as const) {
    const workload = manifests.find(({ kind, metadata }) => kind !== 'Service' && metadata.name === role)
    const template = workload?.spec.template as Manifest
    const [container] = template.spec.containers
    const folder = await mkdtemp(join(tmpdir(), 'patchbay-pod-'))
    await chmod(folder, 0o777)
    t.teardown(() => rm(folder, { recursive: true, force: true }))
    const pod = startRole(t, container.args, {
      ...podEnvironment(template, settings?.data ?? {}, services),
      ...SECRET,
      ...(role === 'voice' ? { PATCHBAY_API_URLS: apiUrl } : stores),
      // Its volumes, and ports that are free on this machine.
      ...{ TMPDIR: folder, HOME: folder, PATCHBAY_DATA_DIR: folder, PORT: '0', PATCHBAY_SIP_PORT: '0' },
      ...{ PATCHBAY_ADMIN_PORT: '0', PATCHBAY_JOBS_ADMIN_PORT: '0', PATCHBAY_VOICE_ADMIN_PORT: '0' },
      ...{ PATCHBAY_LEAVE_MS: '200', PATCHBAY_DRAIN_MS: '2000' },
    })
    await waitUntil(
      () => pod.output().includes('Started in') || pod.child.exitCode !== null,
      () => `${role} to start: ${pod.output()}`,
      { timeoutMs: 60_000 },
    )
    t.equal(pod.child.exitCode, null, pod.output())
    t.match(pod.output(), 'Variables that Kubernetes sets for Services are no settings', role)
    const listens = /"url":"(http:[^"]+)","msg":"Started/.exec(pod.output())?.[1]
    if (role === 'api') {
      t.ok(listens, pod.output())
      apiUrl = (listens ?? '').replace(/^http/, 'ws')
      t.equal((await fetch(`${listens}${container.livenessProbe.httpGet.path}`)).status, 200)
    }
    if (role === 'voice') {
      const ready = apiUrl.replace(/^ws/, 'http') + container.readinessProbe.httpGet.path
      await waitUntil(
        async () => (await fetch(ready)).status === 200,
        () => 'the api node to be ready',
      )
    } else if (role === 'jobs') {
      pod.child.kill('SIGTERM')
      t.equal(await pod.ended, 0, pod.output())
    }
    t.notMatch(pod.output(), /EROFS|EACCES|is not a setting/, role)
  }
})
