import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { startTestApi } from '../../../support/instance/api.ts'

t.test('the list of calls as somebody searches it', async (t) => {
  const api = await startTestApi(t)
  const user = await api.signUp()
  const other = await api.signUp()
  /** A call and what was said in it; returns its id. */
  const call = async (said: string[], { ms = 1000, cost = 0, of = user } = {}) => {
    const { db } = api.store.tenant(of.workspaceId)
    const id = uuidv7()
    await db
      .insertInto('calls')
      .values({
        ...{ id, agent_id: uuidv7(), agent_name: 'Ada', call_type: 'phone', direction: 'inbound', status: 'completed' },
        ...{ duration_ms: ms, cost_llm: cost, cost_stt: 0, cost_tts: 0, platform_cost: 0, created_at: new Date() },
      })
      .execute()
    const turns = said.map((text, seq) => ({ text, seq, call_id: id, role: 'user' as const, start_ms: 0, end_ms: 1 }))
    if (turns.length > 0) await db.insertInto('call_turns').values(turns).execute()
    return id
  }
  const appointment = await call(['Hello', 'I need an Appointment on Monday'], { ms: 3000, cost: 0.1 })
  const monday = await call(['On Monday you said: no appointment. Straße, Größe!'], { ms: 1000, cost: 0.3 })
  const silent = await call([], { ms: 2000, cost: 0.2 })
  await call(['An appointment on Monday'], { of: other })
  const found = async (query: Record<string, string>) => {
    const { status, body } = await user.client.get('/calls/logs', { query })
    t.equal(status, 200, JSON.stringify(body))
    const ids = body.items.map(({ call_log_id }: { call_log_id: string }) => call_log_id)
    t.equal(body.total, ids.length)
    return ids
  }

  await t.test('finds words of one turn, the last one as it begins, newest first', async (t) => {
    t.same(await found({ q: 'monday appoint' }), [monday, appointment])
    t.same(await found({ q: 'hello monday' }), [], 'of two turns')
    t.same(await found({ q: '"an appointment"' }), [appointment])
    t.same(await found({ q: 'monday -said' }), [appointment])
    t.same(await found({ q: 'straße' }), [monday])
    t.same(await found({ q: 'hello', number: '555' }), [], 'with the other filters')
  })

  await t.test('takes whatever is typed', async (t) => {
    for (const q of ["it's & | ! ( :* <->", '"', '-', '   ', "\\'", '💥', ':*']) t.same(await found({ q }), [], q)
    t.equal((await user.client.get('/calls/logs', { query: { q: 'x'.repeat(201) } })).status, 422)
  })

  await t.test('exports what was found', async (t) => {
    const { text } = await user.client.get('/calls/export-csv', { query: { q: 'straße' } })
    t.match(text, monday)
    t.notMatch(text, appointment)
  })

  await t.test('is sorted by length or cost, either way', async (t) => {
    t.same(await found({ sort: 'duration' }), [appointment, silent, monday])
    t.same(await found({ sort: 'duration', order: 'asc' }), [monday, silent, appointment])
    t.same(await found({ sort: 'cost', q: 'monday' }), [monday, appointment])
    const { body } = await user.client.get('/calls/logs', { query: { sort: 'cost', page: '2', page_size: '2' } })
    t.match(body, { total: 3, items: [{ call_log_id: appointment }] })
    t.equal((await user.client.get('/calls/logs', { query: { sort: 'cost', after: 'first' } })).status, 422)
  })
})
