import { hostname } from 'node:os'
import { Registry } from 'prom-client'
import t from 'tap'
import { createWorkerMetrics } from '../../../runtime/metrics.ts'
import { serveMetrics } from '../../../workers/voice/metrics-server.ts'

const idle = { state: 'ready', activeSessions: 0, cpuUtilization: 0, memoryBytes: 1, eventLoopLagMs: 0 } as const

t.test('metrics are served on the address asked for, and nothing else is', async (t) => {
  const { registry } = createWorkerMetrics('worker-1', 3, () => idle)
  const server = await serveMetrics('127.0.0.1', registry)
  t.teardown(() => server.close())
  const page = await (await fetch(server.url)).text()
  t.match(page, 'patchbay_worker_capacity 3')
  t.equal((await fetch(new URL('/', server.url))).status, 404)
  t.equal((await fetch(server.url, { method: 'POST' })).status, 404)
})

t.test('on every address, the url names the machine, so that other machines can read it', async (t) => {
  const server = await serveMetrics('0.0.0.0', new Registry())
  t.teardown(() => server.close())
  t.equal(new URL(server.url).hostname, hostname().toLowerCase())
})
