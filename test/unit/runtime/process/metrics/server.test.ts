import { once } from 'node:events'
import { request } from 'node:http'
import { hostname } from 'node:os'
import { Counter, Registry } from 'prom-client'
import t, { type Test } from 'tap'
import { PatchbayError } from '../../../../../runtime/lib/errors.ts'
import { buildInfo } from '../../../../../runtime/process/build-info.ts'
import {
  ADMIN_HEADER,
  type OperationsServerOptions,
  startOperationsServer,
} from '../../../../../runtime/process/metrics/server.ts'

const DRAIN = { [ADMIN_HEADER]: 'drain' }

async function start(t: Test, options: Partial<OperationsServerOptions> = {}) {
  const registry = new Registry()
  new Counter({ name: 'requests_total', help: 'Requests', registers: [registry] }).inc(3)
  const server = await startOperationsServer({
    host: '127.0.0.1',
    port: 0,
    fixed: true,
    setting: 'PATCHBAY_ADMIN_PORT',
    registry,
    ready: async () => ({ ready: true, status: 'ready' }),
    ...options,
  })
  t.teardown(() => server.close())
  const get = (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${server.port}${path}`, init)
  return { server, get }
}

t.test('health, readiness and metrics are served, and nothing else is', async (t) => {
  const { get } = await start(t)
  t.same(await (await get('/health')).json(), { status: 'ok', ...buildInfo() })
  t.equal((await get('/ready')).status, 200)
  t.match(await (await get('/metrics')).text(), /requests_total 3/)
  t.equal((await get('/')).status, 404)
  t.equal((await get('/doctor/sip')).status, 404)
  t.equal((await get('/drain', { method: 'POST' })).status, 405)
  t.equal((await get('/metrics', { method: 'POST' })).status, 405)
})

t.test('what is not ready says why, with 503', async (t) => {
  const { get } = await start(t, { ready: async () => ({ ready: false, status: 'draining' }) })
  const answer = await get('/ready')
  t.same([answer.status, await answer.json()], [503, { ready: false, status: 'draining' }])
})

t.test('with a token, metrics are read with it alone; health and readiness need none', async (t) => {
  const { get } = await start(t, { token: 'a-token-of-the-operator' })
  const refused = await get('/metrics')
  t.same([refused.status, refused.headers.get('www-authenticate')], [401, 'Bearer'])
  t.equal((await get('/metrics', { headers: { authorization: 'Bearer a-token-of-the-operatoR' } })).status, 401)
  t.equal((await get('/metrics', { headers: { authorization: 'Bearer a-token-of-the-operator' } })).status, 200)
  t.equal((await get('/health')).status, 200)
  t.equal((await get('/ready')).status, 200)
})

t.test('a port the operator named is that one; otherwise the next free one is taken', async (t) => {
  const { server } = await start(t)
  const { port } = server
  await t.rejects(start(t, { port }), {
    code: 'configuration',
    message: `Admin port ${port} is in use; set PATCHBAY_ADMIN_PORT to a free one.`,
  })
  const second = await start(t, { port, fixed: false })
  t.ok(second.server.port > port)
})

t.test('on every address, the url names the machine, so that other machines can read it', async (t) => {
  const { server } = await start(t, { host: '0.0.0.0' })
  t.equal(new URL(server.metricsUrl).hostname, hostname().toLowerCase())
})

t.test('the doctor and the drain are asked from this machine', async (t) => {
  let drained = 0
  const { get } = await start(t, {
    drain: () => ({ calls: ++drained }),
    diagnose: async (provider) => [{ ok: true, text: provider }],
  })
  t.same(await (await get('/doctor/sip')).json(), [{ ok: true, text: 'sip' }])
  const answer = await get('/drain', { method: 'POST', headers: DRAIN })
  t.same([answer.status, await answer.json()], [202, { calls: 1 }])
  t.equal((await get('/drain', { method: 'POST' })).status, 403, 'a form sends no header of ours')
  t.equal(drained, 1)
})

t.test('a reload is asked for in the same way, and a fault of the settings is told', async (t) => {
  let fault: Error | undefined
  const { get } = await start(t, {
    async reload() {
      if (fault !== undefined) throw fault
      return { changed: ['PATCHBAY_LOG_LEVEL'], needsRestart: ['PORT'] }
    },
  })
  const reload = (headers = {}) => get('/reload', { method: 'POST', headers: { [ADMIN_HEADER]: 'reload', ...headers } })
  const answer = await reload()
  t.same([answer.status, await answer.json()], [202, { changed: ['PATCHBAY_LOG_LEVEL'], needsRestart: ['PORT'] }])
  t.equal((await reload({ [ADMIN_HEADER]: 'drain' })).status, 403, 'what is meant for a drain reloads nothing')
  fault = new PatchbayError('configuration', { params: { reason: 'PORT must be a whole number.' } })
  const refused = await reload()
  t.same([refused.status, await refused.text()], [422, 'PORT must be a whole number.'])
})

t.test('no web page drains or diagnoses, whatever name led it here', async (t) => {
  let drained = 0
  const { server } = await start(t, { drain: () => ({ calls: ++drained }), diagnose: async () => [{ ok: true }] })
  const statusOf = async (method: string, path: string, headers: Record<string, string>) => {
    const sent = request({ host: '127.0.0.1', port: server.port, method, path, headers })
    sent.end()
    const [answer] = await once(sent, 'response')
    answer.resume()
    return answer.statusCode
  }
  const foreign: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-origin' },
    { host: 'evil.example' },
    { host: `localhost.evil.example:${server.port}` },
    { host: '10.0.0.1' },
  ]
  for (const headers of foreign) {
    const name = JSON.stringify(headers)
    t.equal(await statusOf('POST', '/drain', { ...DRAIN, ...headers }), 403, name)
    t.equal(await statusOf('GET', '/doctor/sip', headers), 403, name)
    t.equal(await statusOf('GET', '/health', headers), 200, 'probes go on')
  }
  t.equal(drained, 0)
  for (const host of ['localhost', `127.0.0.1:${server.port}`, '[::1]:9080']) {
    t.equal(await statusOf('GET', '/doctor/sip', { host }), 200, host)
  }
  t.equal(await statusOf('POST', '/drain', { ...DRAIN, host: 'localhost' }), 202)
})
