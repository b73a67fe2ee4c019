import t from 'tap'
import type { Services } from '../../../api/services.ts'
import { readinessOf } from '../../../api/system/readiness.ts'
import { systemClock } from '../../../runtime/lib/clock.ts'
import { buildInfo } from '../../../runtime/process/build-info.ts'
import { startTestApi } from '../../support/instance/api.ts'

t.test('health says that the process runs, readiness what is missing', async (t) => {
  const api = await startTestApi(t)
  const health = await api.client().get('/health')
  t.same([health.status, health.body], [200, { status: 'ok', ...buildInfo() }])
  const ready = await api.client().get('/ready')
  t.same(
    [ready.status, ready.body],
    [503, { status: 'not_ready', database: 'ok', redis: 'ok', workers: 0, webrtc: 'off' }],
  )
})

t.test('readiness tells a part that is gone or silent from one that answers', async (t) => {
  const services = (query: () => Promise<unknown>, ping: () => Promise<unknown>, workers: number) =>
    ({
      clock: systemClock,
      store: { pool: { query } },
      redis: { ping },
      sessions: { workers: () => Array(workers), leaving: () => false, webrtc: { standing: { state: 'building' } } },
    }) as unknown as Services
  const yes = async () => 'yes'
  t.same(await readinessOf(services(yes, yes, 2))(), {
    status: 'ready',
    database: 'ok',
    redis: 'ok',
    workers: 1,
    webrtc: 'building',
  })
  const gone = () => Promise.reject(new Error('gone'))
  const silent = () => new Promise(() => {})
  t.same(await readinessOf(services(gone, silent, 1))(), {
    status: 'not_ready',
    database: 'unreachable',
    redis: 'unreachable',
    workers: 1,
    webrtc: 'building',
  })
})

t.test('however many ask whether it is ready, database and Redis are asked once a second', async (t) => {
  let asked = 0
  let nowMs = 0
  const ask = readinessOf({
    clock: { ...systemClock, monotonicMs: () => nowMs },
    store: { pool: { query: async () => asked++ } },
    redis: { ping: async () => 'PONG' },
    sessions: { workers: () => [{}, {}], leaving: () => false, webrtc: { standing: { state: 'off' } } },
  } as unknown as Services)
  await Promise.all(Array.from({ length: 50 }, ask))
  t.equal(asked, 1)
  nowMs = 999
  await ask()
  t.equal(asked, 1)
  nowMs = 1_000
  await ask()
  t.equal(asked, 2)
})
