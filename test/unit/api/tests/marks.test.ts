import { sql } from 'kysely'
import t from 'tap'
import { startTestApi } from '../../../support/instance/api.ts'
import { startTestJobs } from '../../../support/instance/jobs.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

const POLITE = 'The agent is polite.'
const TEST = { name: 'is polite', caller: { say: ['Hello'] }, judge: [POLITE, "It's quick."] }

t.test('people say whether a judge was right, and the judge is measured by that', async (t) => {
  const api = await startTestApi(t)
  await startTestJobs(t, api)
  const { client } = await api.signUp()
  const { agent_id } = (
    await client.post('/agents', {
      body: { agent_name: 'Ava', system_prompt: 'You are Ava.', LLM_provider: 'offline', LLM_model: 'extractive' },
    })
  ).body
  const { run_id } = (await client.post('/tests/runs', { body: { agent_id, tests: [TEST], times: 2 } })).body
  await waitUntil(async () => (await client.get(`/tests/runs/${run_id}`)).body.status === 'done')
  // The model without a key judges nothing: two cases get the verdicts of one that does.
  await sql`update test_cases set result = jsonb_set(result, '{judged,0,verdict}', '"pass"')
    where run_id = ${run_id}`.execute(api.store.acrossTenants)
  const cases = async () => (await client.get(`/tests/runs/${run_id}/cases`)).body.items
  const [first, second] = await cases()
  const mark = (case_id: string, body: Record<string, unknown>) =>
    client.put(`/tests/runs/${run_id}/cases/${case_id}/marks`, { body })
  t.same((await client.get('/tests/judge/agreement')).body, [])
  t.match(await mark(first.case_id, { sentence: POLITE, verdict: 'pass' }), { status: 200 })
  t.match(await mark(first.case_id, { sentence: "It's quick.", verdict: 'pass' }), { status: 200 })
  t.match(await mark(second.case_id, { sentence: POLITE, verdict: 'fail' }), { status: 200 })
  t.match(await cases(), [
    {
      judged: [
        { sentence: POLITE, verdict: 'pass', marked: 'pass' },
        { verdict: 'unsure', marked: 'pass' },
      ],
    },
    { judged: [{ marked: 'fail' }, { marked: null }] },
  ])
  t.match((await client.get('/tests/judge/agreement')).body, [
    { model: 'offline/extractive', prompt_version: 1, marked: 3, agreed: 1, disagreed: 1, unsure: 1 },
  ])
  await mark(second.case_id, { sentence: POLITE, verdict: null })
  t.match((await client.get('/tests/judge/agreement')).body, [{ marked: 2, agreed: 1, disagreed: 0 }])
  t.match(await mark(first.case_id, { sentence: 'It is loud.', verdict: 'pass' }), {
    status: 422,
    body: { detail: [{ loc: ['body', 'sentence'] }] },
  })
  t.match(await mark(first.case_id, { sentence: POLITE, verdict: 'unsure' }), { status: 422 })
  const stranger = await api.signUp()
  t.match(
    await stranger.client.put(`/tests/runs/${run_id}/cases/${first.case_id}/marks`, {
      body: { sentence: POLITE, verdict: 'fail' },
    }),
    { status: 404 },
  )
  t.same((await stranger.client.get('/tests/judge/agreement')).body, [])
})
