import t from 'tap'
import { uuidv7 } from 'uuidv7'
import type { CallEvent, CallEventBody } from '../../../../runtime/call/log/events.ts'
import {
  callEvents,
  callEventsOf,
  dropEventPartitions,
  lacksPartition,
  makeEventPartitions,
} from '../../../../store/calls/call-events.ts'
import { appendCallEvents, endCall } from '../../../../store/calls/write-calls.ts'
import { openStore } from '../../../../store/database/database.ts'
import { testDatabase } from '../../../support/instance/services.ts'

const store = openStore({ databaseUrl: await testDatabase(t), maxConnections: 4 })
t.teardown(() => store.close())
const NOW_MS = Date.UTC(2026, 0, 31, 9)
const row = (workspaceId: string, callId: string, seqs: readonly number[], at = NOW_MS) => {
  const events = seqs.map((seq): CallEvent => ({ type: 'typed', text: `${seq}`, seq, at: at + seq }))
  const [firstSeq = 0] = seqs
  return { workspaceId, callId, firstSeq, lastSeq: seqs.at(-1) ?? 0, at, events: JSON.stringify(events) }
}
const partitions = () => dropEventPartitions(store, new Date(0))

t.test('a month without its partition is told apart from other faults, and made once by however many', async (t) => {
  const lost = appendCallEvents(store, [row(uuidv7(), uuidv7(), [0])])
  t.ok(lacksPartition(await lost.catch((error: unknown) => error)))
  t.notOk(lacksPartition(new Error('no partition of relation')))
  await Promise.all([1, 2, 3].map(() => makeEventPartitions(store, NOW_MS)))
  t.same(await partitions(), [])
})

t.test(
  'the events of a call come page by page, of its workspace alone, and a row written twice is there once',
  async (t) => {
    await makeEventPartitions(store, NOW_MS)
    const [workspaceId, callId] = [uuidv7(), uuidv7()]
    await appendCallEvents(store, [row(workspaceId, callId, [0, 1, 2]), row(workspaceId, uuidv7(), [0])])
    await appendCallEvents(store, [
      row(workspaceId, callId, [0, 1, 2]),
      row(workspaceId, callId, [3, 4], NOW_MS + 1_000),
    ])
    const call = { id: callId, createdAt: new Date(NOW_MS) }
    const page = async (from: number, limit: number) => {
      const { events, total } = await callEvents(store.tenant(workspaceId), call, from, limit)
      return [events.map(({ seq }) => seq), total]
    }
    t.same(await page(0, 10), [[0, 1, 2, 3, 4], 5])
    t.same(await page(2, 2), [[2, 3], 5])
    t.same(await page(10, 5), [[], 5])
    t.same(await callEvents(store.tenant(uuidv7()), call, 0, 10), { events: [], total: 0 })

    const end = { status: 'failed', endReason: 'node_lost', disposition: 'failed' } as const
    await endCall(store, { workspaceId, callId }, end, new Date(NOW_MS + 9_000))
    const { events } = await callEvents(store.tenant(workspaceId), call, 5, 10)
    t.match(events, [{ type: 'ended', seq: 5 }])
  },
)

t.test('of some types alone the events come bounded, whatever else the call has', async (t) => {
  await makeEventPartitions(store, NOW_MS)
  const [workspaceId, callId] = [uuidv7(), uuidv7()]
  const rowOf = (firstSeq: number, bodies: readonly CallEventBody[]) => {
    const events = bodies.map((body, i) => ({ ...body, seq: firstSeq + i, at: NOW_MS }))
    const lastSeq = firstSeq + bodies.length - 1
    return { workspaceId, callId, firstSeq, lastSeq, at: NOW_MS, events: JSON.stringify(events) }
  }
  const key = { type: 'key', digit: '1' } as const
  await appendCallEvents(store, [
    rowOf(0, [key, { type: 'recording_started', start_ms: 7 }, key]),
    rowOf(3, [
      key,
      { type: 'turn', text: 'one', start_ms: 1, end_ms: 2 },
      { type: 'turn', text: 'two', start_ms: 1, end_ms: 2 },
    ]),
    rowOf(
      6,
      Array.from(
        { length: 100 },
        () => ({ type: 'tool_returned', id: 'a', result: 'ä'.repeat(90_000), ms: 1 }) as const,
      ),
    ),
  ])
  const call = { id: callId, createdAt: new Date(NOW_MS) }
  const tenant = store.tenant(workspaceId)
  t.match(await callEventsOf(tenant, call, ['recording_started'], 1), [{ start_ms: 7, seq: 1 }])
  t.same(
    (await callEventsOf(tenant, call, ['turn', 'recording_started'])).map(({ seq }) => seq),
    [1, 4, 5],
  )
  t.same(
    (await callEventsOf(tenant, call, ['turn', 'key'], 3)).map(({ seq }) => seq),
    [0, 2, 3],
  )
  t.equal((await callEventsOf(tenant, call, ['tool_returned'])).length, 46, 'eight megabytes')
  t.same(await callEventsOf(store.tenant(uuidv7()), call, ['turn']), [], 'of its workspace alone')
})

t.test('months that are old enough go, later ones stay', async (t) => {
  await makeEventPartitions(store, NOW_MS)
  t.same(await dropEventPartitions(store, new Date(Date.UTC(2025, 11, 31, 23))), [])
  t.same(await dropEventPartitions(store, new Date(Date.UTC(2026, 1, 1))), [
    'call_events_2025_12',
    'call_events_2026_01',
  ])
  await makeEventPartitions(store, NOW_MS)
})
