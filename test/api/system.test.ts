import t from 'tap'
import type { Services } from '../../api/services.ts'
import { isReady } from '../../api/system/readiness.ts'
import { startTestApi } from '../support/api.ts'

t.test('health says that the process runs, readiness what is missing', async (t) => {
  const api = await startTestApi(t)
  const health = await api.client().get('/health')
  t.same([health.status, health.body], [200, { status: 'ok' }])
  const ready = await api.client().get('/ready')
  t.same(
    [ready.status, ready.body],
    [503, { status: 'not_ready', database: 'ok', redis: 'ok', workers: 0, webrtc: 'off' }],
  )
})

t.test('readiness tells a part that is gone or silent from one that answers', async (t) => {
  const services = (query: () => Promise<unknown>, ping: () => Promise<unknown>, workers: number) =>
    ({
      store: { pool: { query } },
      redis: { ping },
      sessions: { workers: () => Array(workers), leaving: () => false, webrtc: { standing: { state: 'building' } } },
    }) as unknown as Services
  const yes = async () => 'yes'
  t.same(await isReady(services(yes, yes, 2)), {
    status: 'ready',
    database: 'ok',
    redis: 'ok',
    workers: 2,
    webrtc: 'building',
  })
  const gone = () => Promise.reject(new Error('gone'))
  const silent = () => new Promise(() => {})
  t.same(await isReady(services(gone, silent, 1)), {
    status: 'not_ready',
    database: 'unreachable',
    redis: 'unreachable',
    workers: 1,
    webrtc: 'building',
  })
})
