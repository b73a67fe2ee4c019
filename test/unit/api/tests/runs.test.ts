import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { claimTestCases } from '../../../../store/agent-tests/due-cases.ts'
import { insertCall } from '../../../../store/calls/calls.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { startTestJobs } from '../../../support/instance/jobs.ts'

const api = await startTestApi(t)
const owner = await api.signUp()
const { client } = owner
const PROMPT = 'You are Ava of Harbour House. We open at nine. A table costs 20 euros.'

async function makeAgent(fields: Record<string, unknown> = {}): Promise<string> {
  const body = {
    ...{ agent_name: 'Ava', system_prompt: PROMPT, first_message: 'Good morning, Harbour House.' },
    ...{ LLM_provider: 'offline', LLM_model: 'extractive' },
    ...fields,
  }
  return (await client.post('/agents', { body })).body.agent_id
}

const HOURS = {
  name: 'says when it opens',
  tags: ['hours'],
  caller: { say: ['When do you open?', 'What does a table cost?'] },
  expect: [{ heard: 'nine' }, { heard: '20 euros' }, { disposition: 'completed' }, { latency_p95_ms: { max: 5_000 } }],
}

const start = (body: Record<string, unknown>) => client.post('/tests/runs', { body })

async function finished(runId: string) {
  for (let i = 0; i < 1_200; i++) {
    const { body } = await client.get(`/tests/runs/${runId}`)
    if (body.status !== 'running') return body
    await sleep(25)
  }
  throw new Error('The run does not end')
}

t.test('a stored test runs over the agent, and a changed prompt makes it fail', async (t) => {
  const jobs = await startTestJobs(t, api)
  t.teardown(() => jobs.stop())
  const agent_id = await makeAgent()
  const stored = await client.post('/tests', { body: { agent_id, definition: HOURS } })
  t.match(stored, { status: 201, body: { name: HOURS.name, tags: ['hours'], yaml: null } })
  const begun = await start({ agent_id, tags: ['hours'], times: 3 })
  t.match(begun, { status: 202, body: { status: 'running', version: 'draft', total: 3 } })
  const first = await finished(begun.body.run_id)
  t.match(first, {
    status: 'done',
    ...{ total: 3, passed: 3, failed: 0, errors: 0, cost: 0 },
    agent_version: 1,
    tests: [{ name: HOURS.name, passed: 3, total: 3, before: null, published: null }],
  })
  t.ok(first.tests[0].share_low > 0.4 && first.tests[0].share_high === 1)
  await client.patch(`/agents/${agent_id}`, { body: { system_prompt: PROMPT.replace('20', '25') } })
  const again = await start({ agent_id })
  const second = await finished(again.body.run_id)
  t.match(second, {
    failed: 1,
    before_run_id: begun.body.run_id,
    agent_version: 2,
    tests: [{ failed: 1, before: { passed: 3, total: 3 }, published: { version: 1, passed: 3, total: 3 } }],
  })
  const { body } = await client.get(`/tests/runs/${again.body.run_id}/cases`, { query: { failed: 'true' } })
  t.match(body.items, [
    {
      verdict: 'fail',
      why: 'heard 20 euros: the caller never heard it',
      facts: [{ verdict: 'pass' }, { verdict: 'fail' }, { verdict: 'pass' }, { verdict: 'pass' }],
      turns: [
        { role: 'assistant', text: 'Good morning, Harbour House.' },
        { role: 'user', text: 'When do you open?' },
        { role: 'assistant', text: 'We open at nine.' },
        { role: 'user' },
        { role: 'assistant', text: 'A table costs 25 euros.' },
      ],
    },
  ])
  const calls = await api.store.pool.query('select count(*) as n from calls')
  t.equal(calls.rows[0].n, 0, 'no call is logged')
  const events = await api.store.pool.query(
    `select data from workspace_events where type = 'test_run.completed' order by seq`,
  )
  t.match(
    events.rows.map(({ data }) => data),
    [
      { passed: 3, total: 3 },
      { failed: 1, total: 1 },
    ],
  )
})

t.test('a run whose process was killed goes on, and one that kills three has failed with a reason', async (t) => {
  const agent_id = await makeAgent()
  const { body } = await start({ agent_id, tests: [HOURS, { ...HOURS, name: 'another' }] })
  const claim = () => claimTestCases(api.store, { limit: 10, mostOfOne: 10, busy: [], leaseS: 600 })
  t.equal((await claim()).length, 2)
  t.equal((await claim()).length, 0, 'what is claimed is claimed once')
  await api.store.pool.query(
    `update test_cases set next_attempt_at = now(), attempts = case when name = 'another' then 3 else 1 end
      where run_id = $1`,
    [body.run_id],
  )
  const jobs = await startTestJobs(t, api)
  t.teardown(() => jobs.stop())
  t.match(await finished(body.run_id), { status: 'done', passed: 1, errors: 1 })
  const cases = await client.get(`/tests/runs/${body.run_id}/cases`, { query: { failed: 'true' } })
  t.match(cases.body.items, [{ name: 'another', verdict: 'error', why: /processes that ran it stopped/ }])
})

t.test('workspaces take turns, oldest first, and one that has its part is passed over', async (t) => {
  const [ada, eve] = [await api.signUp(), await api.signUp()]
  for (const user of [ada, eve]) {
    const { agent_id } = (await user.client.post('/agents', { body: { agent_name: 'Ava', system_prompt: PROMPT } }))
      .body
    const body = { agent_id, tests: [HOURS, { ...HOURS, name: 'another' }, { ...HOURS, name: 'a third' }] }
    t.equal((await user.client.post('/tests/runs', { body })).status, 202)
  }
  const claim = async (busy: string[] = []) => {
    const claimed = await claimTestCases(api.store, { limit: 3, mostOfOne: 2, busy, leaseS: 600 })
    const { rows } = await api.store.pool.query(
      'select workspace_id, name from test_cases where id = any($1) order by workspace_id, id',
      [claimed.map(({ caseId }) => caseId)],
    )
    return rows.map(({ workspace_id, name }) => [workspace_id, name])
  }
  const [first, second] = [ada.workspaceId, eve.workspaceId].sort()
  const begun = await claim()
  t.equal(begun.length, 3)
  t.match(
    begun.filter(([, name]) => name === HOURS.name),
    [[first], [second]],
  )
  t.notOk(begun.some(([, name]) => name === 'a third'))
  t.ok((await claim([ada.workspaceId])).every(([workspace]) => workspace === eve.workspaceId))
})

t.test('the cost of a run is not known where a price is not', async (t) => {
  const jobs = await startTestJobs(t, api)
  t.teardown(() => jobs.stop())
  const agent_id = await makeAgent()
  await api.store.pool.query(`update agents set stt_provider = 'deepgram', stt_model = 'of-tomorrow' where id = $1`, [
    agent_id,
  ])
  const { body } = await start({ agent_id, tests: [HOURS] })
  t.match(await finished(body.run_id), { passed: 1, cost: null })
})

t.test('a canceled run begins no further test', async (t) => {
  const agent_id = await makeAgent()
  const { body } = await start({ agent_id, tests: [HOURS], times: 5 })
  t.match(await client.post(`/tests/runs/${body.run_id}/cancel`), { status: 200, body: { status: 'canceled' } })
  t.match(await client.post(`/tests/runs/${body.run_id}/cancel`), { status: 409 })
  t.same(await claimTestCases(api.store, { limit: 10, mostOfOne: 10, busy: [], leaseS: 600 }), [])
})

t.test('what is wrong with a test is refused with its place', async (t) => {
  const yaml = 'name: a\ncaller:\n  say: [hello]\nexpct:\n  - heard: a\n'
  t.match(await client.post('/tests', { body: { yaml } }), {
    status: 422,
    body: { detail: [{ loc: ['body', 'yaml', 'expct'], msg: 'unknown key `expct`; did you mean `expect`? (line 4)' }] },
  })
  const bomb = Array.from({ length: 12 }, (_, i) => `a${i}: &a${i} [${Array(9).fill(i === 0 ? 'x' : `*a${i - 1}`)}]`)
  t.match(await client.post('/tests', { body: { yaml: bomb.join('\n') } }), {
    status: 422,
    body: { detail: [{ loc: ['body', 'yaml'], msg: /alias/i }] },
  })
  for (const mib of [2, 10]) {
    const refused = await client.post('/tests', { body: { yaml: `name: ${'x'.repeat(mib << 20)}` } })
    t.ok(refused.status === 422 || refused.code === 'body_too_large', `${mib} MiB are refused`, { refused })
  }
  const stored = await client.post('/tests', { body: { yaml: yaml.replace('expct', 'expect') } })
  t.match(stored, { status: 201, body: { definition: { expect: [{ heard: 'a' }] }, yaml: /name: a/ } })
  const path = `/tests/${stored.body.test_id}`
  t.match(await client.put(path, { body: { definition: { ...HOURS, expect: [] } } }), {
    status: 422,
    body: { detail: [{ loc: ['body', 'definition', 'expect'], msg: /proves nothing/ }] },
  })
  t.match(await client.put(path, { body: { definition: HOURS } }), {
    status: 200,
    body: { name: HOURS.name, yaml: null },
  })
  const stranger = await api.signUp()
  t.match(await stranger.client.get(path), { status: 404 })
  t.match(await client.delete(path), { status: 200 })
  t.match(await client.get(path), { status: 404, body: { detail: 'Test not found' } })
  const agent_id = await makeAgent()
  t.match(await start({ agent_id }), { status: 422, body: { detail: [{ msg: /nothing would be proved/ }] } })
  t.match(await start({ agent_id, tests: [{ ...HOURS, nme: 'x' }] }), {
    status: 422,
    body: { detail: [{ loc: ['body', 'tests', '0', 'nme'], msg: /did you mean `name`/ }] },
  })
  const kept = (await client.post('/tests', { body: { definition: HOURS } })).body.test_id
  t.match(await start({ agent_id, tests: [HOURS, kept.toUpperCase(), kept] }), { status: 202, body: { total: 3 } })
  t.match(await start({ agent_id, tests: [kept, agent_id] }), { status: 404, body: { detail: 'Test not found' } })
  t.match(await start({ agent_id, tests: [HOURS], times: 100, version: 'newest' }), { status: 422 })
})

t.test('a call becomes a test that passes, and that fails once the agent says something else', async (t) => {
  const jobs = await startTestJobs(t, api)
  t.teardown(() => jobs.stop())
  const agent_id = await makeAgent()
  const tenant = api.store.tenant(owner.workspaceId)
  const call = await insertCall(tenant, {
    ...{ agent_id, agent_name: 'Ava', call_type: 'phone', direction: 'inbound', status: 'completed' },
    ...{ end_reason: 'caller_hangup', disposition: 'completed', from_number: '+4930901820', ended_at: new Date() },
  })
  const said = [
    ['assistant', 'Good morning, Harbour House.'],
    ['user', 'What does a table cost?'],
    ['assistant', 'A table costs 20 euros.'],
    ['user', 'Thank you, my number is 030 901820.'],
  ]
  for (const [seq, [role, text]] of said.entries()) {
    await api.store.pool.query(
      `insert into call_turns (call_id, workspace_id, seq, role, text, start_ms, end_ms) values ($1, $2, $3, $4, $5, $6, $7)`,
      [call.id, owner.workspaceId, seq, role, text, seq * 3_000, seq * 3_000 + 2_000],
    )
  }
  const { status, body } = await client.post(`/calls/${call.id}/to-test`, { body: { name: 'as it was' } })
  t.equal(status, 200, JSON.stringify(body))
  t.match(body, { definition: { name: 'as it was', expect: [{ heard: 'A table costs 20 euros.' }, {}, {}] } })
  t.notMatch(body.yaml, /901820/)
  const first = await start({ agent_id, tests: [body.definition] })
  t.match(await finished(first.body.run_id), { passed: 1 })
  await client.patch(`/agents/${agent_id}`, { body: { system_prompt: PROMPT.replace('20', '25') } })
  const second = await start({ agent_id, tests: [body.definition] })
  t.match(await finished(second.body.run_id), { failed: 1 })
})

t.test('a run in sound is told so, whatever its tests say', async (t) => {
  const jobs = await startTestJobs(t, api)
  t.teardown(() => jobs.stop())
  const agent_id = await makeAgent()
  const mute = { ...HOURS, caller: { ...HOURS.caller, voice: 'nobody/speaks' } }
  t.match(await start({ agent_id, tests: [mute], channel: 'smoke' }), { status: 422 })
  const inText = await finished((await start({ agent_id, tests: [mute] })).body.run_id)
  t.match(inText, { passed: 1, errors: 0 }, 'text needs no voice')
  const inSound = await start({ agent_id, tests: [mute], channel: 'audio' })
  t.match(await finished(inSound.body.run_id), { passed: 0, errors: 1 })
  const { body } = await client.get(`/tests/runs/${inSound.body.run_id}/cases`)
  t.match(body.items, [{ verdict: 'error', why: /nobody/ }])
})
