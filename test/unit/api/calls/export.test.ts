import { parse } from 'csv-parse/sync'
import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { startTestApi } from '../../../support/instance/api.ts'

t.test('the call log as CSV', async (t) => {
  const api = await startTestApi(t)
  const user = await api.signUp()
  const { db } = api.store.tenant(user.workspaceId)
  const row = (i: number) => ({
    id: uuidv7(),
    agent_id: uuidv7(),
    agent_name: i === 0 ? '=cmd()' : 'Ada "the", voice',
    call_type: i % 2 === 0 ? ('phone' as const) : ('web' as const),
    direction: 'outbound' as const,
    status: 'completed' as const,
    from_number: '+14155550100',
    created_at: new Date(Date.UTC(2026, 0, 1) + Math.floor(i / 3) * 1000),
    duration_ms: 1500,
    llm_input_tokens: 3,
    llm_output_tokens: 4,
    turn_latencies_ms: [300, 100, 200],
  })
  // More than one query reads, several of the same moment among them.
  for (let from = 0; from < 1300; from += 100) {
    await db
      .insertInto('calls')
      .values(Array.from({ length: 100 }, (_, i) => row(from + i)))
      .execute()
  }

  await t.test('has every call once, newest first, in the documented columns', async (t) => {
    const answer = await user.client.get('/calls/export-csv')
    t.equal(answer.status, 200)
    t.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8')
    t.match(answer.headers.get('content-disposition'), /^attachment; filename="calls-\d{4}-\d\d-\d\d\.csv"$/)
    const records = parse(answer.text, { columns: true }) as Record<string, string>[]
    t.equal(records.length, 1300)
    t.equal(new Set(records.map(({ call_log_id }) => call_log_id)).size, 1300)
    const times = records.map(({ created_at }) => created_at ?? '')
    t.same(times, [...times].sort().reverse())
    t.match(
      records.at(-1)?.agent_name === "'=cmd()"
        ? records.at(-1)
        : records.find(({ agent_name }) => agent_name?.startsWith("'")),
      {
        agent_name: "'=cmd()",
        from_number: '+14155550100',
        duration: '1.5',
        total_tokens: '7',
        turns: '3',
        p50_ms: '200',
        p95_ms: '300',
        total_cost: '',
      },
    )
    t.equal(records[0]?.agent_name, 'Ada "the", voice')
    t.match(
      answer.text.slice(0, answer.text.indexOf('\r\n')),
      /^call_log_id,workspace_id,agent_id,.*,p95_ms,error,agent_version$/,
    )
  })

  await t.test('takes the filters of the logs', async (t) => {
    const query = { call_type: 'web', start_date: '2026-01-01T00:00:10Z', end_date: '2026-01-01T00:00:20Z' }
    const [csv, logs] = await Promise.all([
      user.client.get('/calls/export-csv', { query }),
      user.client.get('/calls/logs', { query: { ...query, page_size: 200 } }),
    ])
    const records = parse(csv.text, { columns: true }) as Record<string, string>[]
    t.equal(records.length, 15)
    t.same(
      records.map(({ call_log_id }) => call_log_id),
      logs.body.items.map(({ call_log_id }: { call_log_id: string }) => call_log_id),
    )
  })

  await t.test('shows nobody the calls of another workspace', async (t) => {
    const other = await api.signUp()
    const { text } = await other.client.get('/calls/export-csv')
    t.equal(text.trim().split('\r\n').length, 1, 'the header alone')
    t.equal((await api.client().get('/calls/export-csv')).status, 401)
  })
})
