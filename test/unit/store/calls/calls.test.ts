import t, { type Test } from 'tap'
import { uuidv7 } from 'uuidv7'
import { entriesOf } from '../../../../runtime/call/log/call-entry.ts'
import type { CallEvent } from '../../../../runtime/call/log/events.ts'
import { createUser } from '../../../../store/accounts/users.ts'
import { makeEventPartitions } from '../../../../store/calls/call-events.ts'
import { type CallFilter, callById, callsPage, insertCall } from '../../../../store/calls/calls.ts'
import { appendCallEvents } from '../../../../store/calls/write-calls.ts'
import { openStore, type Store } from '../../../../store/database/database.ts'
import type { Tenant } from '../../../../store/database/tenant.ts'
import { testDatabase } from '../../../support/instance/services.ts'
import { seeded } from '../../../support/phone/numbers.ts'

async function newTenant(t: Test): Promise<Tenant> {
  return (await newWorkspace(t)).tenant
}

async function newWorkspace(t: Test): Promise<{ store: Store; tenant: Tenant }> {
  const store = openStore({ databaseUrl: await testDatabase(t), maxConnections: 4 })
  t.teardown(() => store.close())
  const user = await createUser(store.global, {
    name: 'Ada',
    email: 'ada@example.com',
    passwordHash: '',
    phoneNumber: '+14155550123',
  })
  return { store, tenant: store.tenant(user.current_workspace_id ?? '') }
}

t.test('every page of every filter is what sorting all calls would give', async (t) => {
  const tenant = await newTenant(t)
  const agents = [uuidv7(), uuidv7(), uuidv7()]
  const random = seeded(7)
  const startMs = Date.parse('2026-01-31T22:40:00Z')
  // Bursts and gaps: some minutes hold dozens of calls of the same millisecond, some hours none.
  for (let i = 0; i < 300; i++) {
    const atMs = startMs + Math.floor(random() ** 2 * 6 * 60) * 60_000 + Math.floor(random() * 4) * 15_000
    await insertCall(tenant, {
      agent_id: agents[Math.floor(random() * 3)] as string,
      agent_name: 'A',
      call_type: random() < 0.5 ? 'web' : 'phone',
      direction: 'inbound',
      status: 'completed',
      created_at: new Date(atMs),
    })
  }
  const all = await tenant.db.selectFrom('calls').selectAll().execute()
  all.sort((a, b) => b.created_at.getTime() - a.created_at.getTime() || (a.id < b.id ? 1 : -1))

  let pages = 0
  async function check(filter: CallFilter, size: number): Promise<void> {
    const expected = all.filter(
      (call) =>
        (!filter.callType || call.call_type === filter.callType) &&
        (!filter.agentId || call.agent_id === filter.agentId) &&
        (!filter.start || call.created_at >= filter.start) &&
        (!filter.end || call.created_at < filter.end),
    )
    for (let number = 1; number <= Math.ceil(expected.length / size) + 1; number++) {
      const { calls, total } = await callsPage(tenant, filter, { number, size })
      const what = `${JSON.stringify(filter)} page ${number} of ${size}`
      if (total !== expected.length) t.equal(total, expected.length, what)
      pages++
      const ids = calls.map(({ id }) => id)
      const wanted = expected.slice((number - 1) * size, number * size).map(({ id }) => id)
      if (ids.join() !== wanted.join()) t.same(ids, wanted, what)
    }
  }
  const at = (minutes: number) => new Date(startMs + minutes * 60_000 + 7_000)
  const ranges: CallFilter[] = [
    {},
    { start: at(3) },
    { end: at(200) },
    { start: at(3), end: at(200) },
    { start: at(3), end: at(9) },
    { start: at(20), end: at(80) },
    { start: new Date('2026-02-01T00:00:00Z'), end: new Date('2026-02-01T02:00:00Z') },
    { start: at(9), end: at(3) },
    { start: at(5000) },
  ]
  for (const range of ranges) {
    for (const callType of [undefined, 'web'] as const) {
      for (const agentId of [undefined, agents[0]]) await check({ ...range, callType, agentId }, 17)
    }
  }
  await check({}, 1)
  await check({}, 200)

  await tenant.db.deleteFrom('calls').where('call_type', '=', 'web').execute()
  all.splice(0, all.length, ...all.filter((call) => call.call_type === 'phone'))
  for (const range of ranges) await check(range, 23)
  t.ok(pages > 300, `${pages} pages were compared`)
})

t.test('a call that is read while it is written shows no turn before its answer', async (t) => {
  const { store, tenant } = await newWorkspace(t)
  await makeEventPartitions(store, Date.now())
  const turn = { type: 'turn', text: 'Hello.', start_ms: 0, end_ms: 10 } as const
  for (let i = 0; i < 100; i++) {
    const { id } = await insertCall(tenant, {
      agent_id: uuidv7(),
      agent_name: 'A',
      call_type: 'phone',
      direction: 'inbound',
      status: 'ringing',
    })
    const at = Date.now()
    const events: CallEvent[] = [
      { type: 'answered', seq: 0, at },
      { ...turn, seq: 1, at },
    ]
    const [first, second] = entriesOf(tenant.workspaceId, id, events)
    const written = appendCallEvents(store, [first!]).then(() => appendCallEvents(store, [second!]))
    for (let read = await callById(tenant, id); read?.status !== 'in_progress'; read = await callById(tenant, id)) {
      if (read?.turns.length !== 0) t.fail(`a call that is ${read?.status} has turns`)
    }
    await written
    const { turns, status } = (await callById(tenant, id)) ?? {}
    if (i === 0) t.match({ turns, status }, { status: 'in_progress', turns: [{ seq: 0, text: 'Hello.', end_ms: 10 }] })
  }
})
