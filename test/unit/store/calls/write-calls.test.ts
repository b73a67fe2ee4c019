import { pino } from 'pino'
import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { entriesOf } from '../../../../runtime/call/log/call-entry.ts'
import { CallLog } from '../../../../runtime/call/log/call-log.ts'
import type { CallEvent, CallEventBody } from '../../../../runtime/call/log/events.ts'
import { systemClock } from '../../../../runtime/lib/clock.ts'
import { lostRows } from '../../../../runtime/process/metrics/lost-rows.ts'
import { createUser } from '../../../../store/accounts/users.ts'
import { callEvents } from '../../../../store/calls/call-events.ts'
import { callById, insertCall } from '../../../../store/calls/calls.ts'
import { appendCallEvents, endCall, writeCalls } from '../../../../store/calls/write-calls.ts'
import { openStore } from '../../../../store/database/database.ts'
import { testDatabase } from '../../../support/instance/services.ts'

const store = openStore({ databaseUrl: await testDatabase(t), maxConnections: 4 })
t.teardown(() => store.close())
const user = await createUser(store.global, {
  name: 'Ada',
  email: 'ada@example.com',
  passwordHash: '',
  phoneNumber: '+14155550123',
})
const tenant = store.tenant(user.current_workspace_id ?? '')
const { workspaceId } = tenant
const log = pino({ level: 'silent' })

const ENDED = { type: 'ended', status: 'failed', end_reason: 'error', disposition: 'failed' } as const
const USED = { type: 'usage', stage: 'llm', input_tokens: 1, output_tokens: 2 } as const
const turn = (text: string) => ({ type: 'turn', text, start_ms: 0, end_ms: 1 }) as const

async function newCall(status: 'queued' | 'in_progress' = 'queued') {
  const values = { agent_id: uuidv7(), agent_name: 'A', call_type: 'web', direction: 'inbound', status } as const
  return insertCall(tenant, values)
}

function logged(...bodies: CallEventBody[]): CallEvent[] {
  const events: CallEvent[] = []
  const callLog = new CallLog(systemClock, [(event) => void events.push(event)])
  for (const body of bodies) callLog.append(body)
  return events
}

const write = (callId: string, events: readonly CallEvent[]) =>
  writeCalls({ store, clock: systemClock, log }, entriesOf(workspaceId, callId, events), false)

async function published(callId: string): Promise<string[]> {
  const { rows } = await store.pool.query('select type, data from workspace_events where subject = $1 order by seq', [
    callId,
  ])
  return rows.map(({ type, data }) => (type === 'call.turn' ? `${type} ${data.text}` : type))
}

const seqsOf = async ({ id, created_at: createdAt }: { id: string; created_at: Date }) =>
  (await callEvents(tenant, { id, createdAt }, 0, 100)).events.map(({ type, seq }) => `${seq} ${type}`)

async function lost(): Promise<Record<string, number>> {
  const { values } = await lostRows.get()
  return Object.fromEntries(
    values
      .filter(({ labels }) => labels.reason === 'refused')
      .map(({ labels, value }) => [String(labels.table), value]),
  )
}

t.test('what is written together is published in the order of the log, with the row as it was then', async (t) => {
  const call = await newCall()
  const events = logged(
    { type: 'queued' },
    { type: 'ringing' },
    { type: 'answered' },
    turn('first'),
    turn('last'),
    { ...ENDED, error: 'why', duration_ms: 1_500 },
    USED,
  )
  await write(call.id, events)
  t.same(await published(call.id), [
    'call.queued',
    'call.ringing',
    'call.answered',
    'call.turn first',
    'call.turn last',
    'call.ended',
  ])
  const row = await callById(tenant, call.id)
  t.match(row, { status: 'failed', error: 'why', duration_ms: 1_500, llm_output_tokens: 2 })
  t.equal(row!.ended_at!.getTime() - row!.answered_at!.getTime(), 1_500)
  t.match(row!.turns, [
    { seq: 0, text: 'first' },
    { seq: 1, text: 'last' },
  ])
})

t.test('what was written is not written again', async (t) => {
  const call = await newCall('in_progress')
  const events = logged(turn('once'), USED)
  for (let i = 0; i < 3; i++) await write(call.id, events)
  t.match(await callById(tenant, call.id), { llm_input_tokens: 1, turns: [{ text: 'once' }] })
  t.same(await published(call.id), ['call.turn once'])
})

t.test('a call that is over keeps its end, and a log that began after it says nothing', async (t) => {
  const call = await newCall()
  const end = { status: 'canceled', endReason: 'api_hangup', disposition: 'canceled' } as const
  t.equal(await endCall(store, { workspaceId, callId: call.id }, end, new Date(), 0), true)
  const before = await seqsOf(call)
  await write(call.id, logged({ type: 'queued' }, ENDED))
  t.match(await callById(tenant, call.id), { status: 'canceled', end_reason: 'api_hangup' })
  t.same(await seqsOf(call), before)
  t.same(await published(call.id), ['call.queued', 'call.ended'])
})

t.test('an event that the database refuses costs that event only, whatever else is written with it', async (t) => {
  const [poisoned, other] = [await newCall('in_progress'), await newCall('in_progress')]
  await store.pool.query(
    `alter table call_events add constraint poison check (call_id <> '${poisoned.id}' or events::text not like '%poison%')`,
  )
  t.teardown(() => store.pool.query('alter table call_events drop constraint poison'))
  const before = await lost()
  const events = logged(turn('one'), USED, turn('poison'), USED, turn('two'), { ...ENDED, duration_ms: 1 })
  const entries = [
    ...entriesOf(workspaceId, other.id, logged(turn('of the other'))),
    ...entriesOf(workspaceId, poisoned.id, events),
    ...entriesOf(workspaceId, other.id, logged(turn('of the other'), ENDED).slice(1)),
  ]
  const { left } = await writeCalls({ store, clock: systemClock, log }, entries, false)
  t.same(left, [])
  t.same(await seqsOf(poisoned), ['0 turn', '1 usage', '3 usage', '4 turn', '5 ended'])
  t.match(await callById(tenant, poisoned.id), {
    ...{ status: 'failed', llm_input_tokens: 2 },
    turns: [{ text: 'one' }, { text: 'poison' }, { text: 'two' }],
  })
  t.same(await published(poisoned.id), ['call.turn one', 'call.turn two', 'call.ended'])
  t.same(await seqsOf(other), ['0 turn', '1 ended'])
  t.equal(((await lost()).call_events ?? 0) - (before.call_events ?? 0), 1)
})

t.test('an end whose words are refused is written without them', async (t) => {
  const [call, lostCall] = [await newCall('in_progress'), await newCall('in_progress')]
  await store.pool.query(`alter table calls add constraint words check (error <> 'poison')`)
  await store.pool.query(`alter table call_events add constraint lost check (call_id <> '${lostCall.id}')`)
  t.teardown(() => store.pool.query('alter table calls drop constraint words'))
  t.teardown(() => store.pool.query('alter table call_events drop constraint lost'))
  await write(call.id, logged({ ...ENDED, error: 'poison' }))
  t.match(await callById(tenant, call.id), { status: 'failed', end_reason: 'error', error: null })
  t.same(await seqsOf(call), ['0 ended'])

  const end = { status: 'failed', endReason: 'node_lost', disposition: 'failed' } as const
  t.equal(await endCall(store, { workspaceId, callId: lostCall.id }, end, new Date()), true)
  t.match(await callById(tenant, lostCall.id), { status: 'failed', end_reason: 'node_lost' })
})

t.test('a call that was deleted meanwhile costs the others nothing', async (t) => {
  const [gone, call] = [await newCall('in_progress'), await newCall('in_progress')]
  await tenant.db.deleteFrom('calls').where('id', '=', gone.id).execute()
  const entries = [gone, call].flatMap(({ id }) => entriesOf(workspaceId, id, logged(turn('still'), USED)))
  await appendCallEvents(store, entries)
  t.match(await callById(tenant, call.id), { llm_input_tokens: 1, turns: [{ text: 'still' }] })
  t.same(await published(gone.id), [])
})
