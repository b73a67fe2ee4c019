import t from 'tap'
import type { Services } from '../../../api/services.ts'
import { readinessOf } from '../../../api/system/readiness.ts'
import { systemClock } from '../../../runtime/lib/clock.ts'
import { buildInfo } from '../../../runtime/process/build-info.ts'
import { storeFaults } from '../../../store/connections/readiness.ts'
import type { RedisClient } from '../../../store/redis/client.ts'
import { startTestApi } from '../../support/instance/api.ts'

t.test('health says that the process runs, readiness what is missing', async (t) => {
  const api = await startTestApi(t)
  const health = await api.client().get('/health')
  t.same([health.status, health.body], [200, { status: 'ok', ...buildInfo() }])
  const ready = await api.client().get('/ready')
  t.same(
    [ready.status, ready.body],
    [
      503,
      {
        ...{ status: 'not_ready', database: 'ok', redis: 'ok', leases: 'ok', workers: 0, webrtc: 'off' },
        reasons: ['no voice worker is linked to this node'],
      },
    ],
  )
})

/** Doubles of what readiness asks. */
function asked(options: {
  database?: () => Promise<string | undefined>
  write?: () => Promise<unknown>
  leases?: string
  monotonicMs?: () => number
}) {
  const { database = async () => undefined, write = async () => 'OK', leases, monotonicMs } = options
  const transaction = { set: () => transaction, exec: write }
  return readinessOf({
    stores: storeFaults({ fault: database }, { multi: () => transaction } as unknown as RedisClient, {
      monotonicMs: monotonicMs ?? systemClock.monotonicMs,
    }),
    sessions: {
      workers: () => [{}, {}],
      leaving: () => false,
      leaseFault: () => leases,
      webrtc: { standing: { state: 'building' } },
    },
  } as unknown as Services)
}

t.test('readiness says of each part that does not work why', async (t) => {
  const works = { database: 'ok', redis: 'ok', leases: 'ok', workers: 1, webrtc: 'building' }
  t.same(await asked({})(), { status: 'ready', ...works })
  const faults = {
    database: async () => 'PostgreSQL is read-only',
    write: () => new Promise(() => {}),
    leases: 'OOM',
  }
  t.same(await asked(faults)(), {
    status: 'not_ready',
    ...{ ...works, database: 'unreachable', redis: 'unreachable', leases: 'late' },
    reasons: ['PostgreSQL is read-only', 'Redis does not answer', 'the leases of calls could not be renewed (OOM)'],
  })
})

t.test('however many ask whether it is ready, database and Redis are asked once a second', async (t) => {
  let count = 0
  let nowMs = 0
  const database = async () => {
    count++
    return undefined
  }
  const ask = asked({ database, monotonicMs: () => nowMs })
  await Promise.all(Array.from({ length: 50 }, ask))
  t.equal(count, 1)
  nowMs = 999
  await ask()
  t.equal(count, 1)
  nowMs = 1_000
  await ask()
  t.equal(count, 2)
})
