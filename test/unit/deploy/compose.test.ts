import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { loadConfig } from '../../../config/load.ts'
import { SETTINGS } from '../../../config/schema.ts'
import { HIGHEST_PRIORITY } from '../../../runtime/process/realtime.ts'

const root = join(import.meta.dirname, '../../..')
const SETTINGS_OF_OTHERS = /^(QDRANT_URL|QDRANT_API_KEY|S3_\w+)$/
const STORE = /^(DATABASE_URL|REDIS_URL|QDRANT_URL|QDRANT_API_KEY|JWT_API_SECRET|PATCHBAY_DATA_KEY|S3_\w+|SMTP_URL)$/

interface Service {
  command: string[]
  environment: Record<string, string | number>
  ports?: string[]
  env_file?: { path: string; required: boolean }[]
  healthcheck?: { test?: string[] }
  stop_grace_period: string
  ulimits?: { rtprio?: number }
  networks?: string[]
  cap_drop?: string[]
  cap_add?: string[]
  security_opt?: string[]
  read_only?: boolean
}

const compose = parse(await readFile(join(root, 'compose.yaml'), 'utf8'), { merge: true }) as {
  services: Record<string, Service>
  networks: Record<string, { internal?: boolean } | null>
}
const roles = ['api', 'jobs', 'voice'] as const
const serviceOf = (role: string): Service => {
  const service = compose.services[role]
  if (service === undefined) throw new Error(`compose.yaml has no service ${role}`)
  return service
}

/** What a service's settings are where nobody sets a variable. */
function environmentOf(role: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(serviceOf(role).environment).map(([name, value]) => [
      name,
      String(value)
        .replace(/\$\{\w+:-([^}]*)\}/g, '$1')
        .replace(/\$\{\w+:\?[^}]*\}/g, 'x'.repeat(40)),
    ]),
  )
}

t.test('each role has settings there are, that are well-formed', async (t) => {
  const known = new Set<string>(Object.values(SETTINGS).map(({ env }) => env))
  for (const role of roles) {
    const environment = environmentOf(role)
    for (const name of Object.keys(environment)) t.ok(known.has(name) || SETTINGS_OF_OTHERS.test(name), name)
    t.doesNotThrow(() => loadConfig(environment), role)
    t.same(
      serviceOf(role).env_file,
      [{ path: 'providers.env', required: false }],
      'keys of providers and carriers get in',
    )
  }
})

t.test('audio may go before the other work of the machine', async (t) => {
  for (const role of ['api', 'voice'] as const) t.equal(serviceOf(role).ulimits?.rtprio, HIGHEST_PRIORITY, role)
})

t.test('voice workers get nothing that opens the store', async (t) => {
  t.notOk(Object.keys(serviceOf('voice').environment).some((name) => STORE.test(name)))
})

t.test('phone calls get in: SIP over UDP and TCP, and every port of their media', async (t) => {
  const { ports = [] } = serviceOf('api')
  const rtp = environmentOf('api').PATCHBAY_RTP_PORTS
  t.ok(ports.includes(`${rtp}:${rtp}/udp`))
  for (const protocol of ['udp', 'tcp']) t.ok(ports.some((port) => port.endsWith(`:5060/${protocol}`)))
})

t.test('every role is watched at its own port, reachable from the private network', async (t) => {
  const ports = { api: 9080, jobs: 9081, voice: 9082 }
  const settings = { api: 'PATCHBAY_ADMIN_PORT', jobs: 'PATCHBAY_JOBS_ADMIN_PORT', voice: 'PATCHBAY_VOICE_ADMIN_PORT' }
  for (const role of roles) {
    const environment = environmentOf(role)
    t.equal(environment.PATCHBAY_METRICS_HOST, '0.0.0.0')
    t.equal(environment[settings[role]], String(ports[role]))
    if (role !== 'api') t.match(serviceOf(role).healthcheck?.test?.join(' '), `:${ports[role]}/health`)
  }
})

t.test('containers are given longer than their calls have', async (t) => {
  const { drainMs } = loadConfig({})
  for (const role of roles) t.ok(Number.parseInt(serviceOf(role).stop_grace_period, 10) * 1_000 > drainMs, role)
})

t.test('voice workers reach the api and nothing that holds data', async (t) => {
  const sharesNetwork = (one: string, other: string): boolean =>
    (serviceOf(one).networks ?? ['default']).some((name) => (serviceOf(other).networks ?? ['default']).includes(name))
  for (const store of ['postgres', 'redis', 'qdrant']) {
    t.notOk(sharesNetwork('voice', store), store)
    for (const role of ['api', 'jobs']) t.ok(sharesNetwork(role, store), `${role} ${store}`)
    t.same(serviceOf(store).networks, ['store'])
    t.equal(serviceOf(store).ports, undefined)
  }
  t.ok(sharesNetwork('voice', 'api'))
  t.notOk(sharesNetwork('voice', 'jobs'))
  t.same(compose.networks.store, { internal: true })
  for (const { networks = [] } of Object.values(compose.services)) {
    for (const name of networks) t.ok(name in compose.networks, name)
  }
})

t.test('each store wants a password that the roles have', async (t) => {
  const text = await readFile(join(root, 'compose.yaml'), 'utf8')
  for (const [name, variable] of [
    ['postgres', 'POSTGRES_PASSWORD'],
    ['redis', 'REDIS_PASSWORD'],
    ['qdrant', 'QDRANT_API_KEY'],
  ] as const) {
    t.match(JSON.stringify(serviceOf(name).environment), `\${${variable}:?`, name)
    for (const role of ['api', 'jobs']) t.match(JSON.stringify(serviceOf(role).environment), `\${${variable}:?`, role)
    t.notMatch(JSON.stringify(serviceOf('voice').environment), variable)
    t.match(text, `#   ${variable}=`, 'what to put into .env says so')
    t.match(await readFile(join(root, 'README.md'), 'utf8'), `${variable}=%s`)
  }
  t.match(String(serviceOf('redis').command), 'requirepass')
})

t.test('no container has privileges it can do without', async (t) => {
  for (const [name, service] of Object.entries(compose.services)) {
    t.same(service.cap_drop, ['ALL'], name)
    t.same(service.security_opt, ['no-new-privileges:true'], name)
    t.equal(service.read_only, name !== 'qdrant', name)
    if (name in { api: 0, jobs: 0, voice: 0, qdrant: 0 }) t.equal(service.cap_add, undefined, name)
  }
})
