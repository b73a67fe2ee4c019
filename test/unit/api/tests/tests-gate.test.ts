import t from 'tap'
import { startTestApi } from '../../../support/instance/api.ts'
import { startTestJobs } from '../../../support/instance/jobs.ts'

t.test('a draft goes live only when the tests that are required pass', async (t) => {
  const api = await startTestApi(t)
  await startTestJobs(t, api)
  const { client } = await api.signUp()
  const made = await client.post('/agents', {
    body: {
      ...{ agent_name: 'Ava', LLM_provider: 'offline', LLM_model: 'extractive', publishing: 'manual' },
      system_prompt: 'You are Ava of Harbour House. A table costs 20 euros.',
    },
  })
  const { agent_id } = made.body
  const definition = {
    ...{ name: 'says the price', tags: ['release'], caller: { say: ['What does a table cost?'] } },
    expect: [{ heard: '20 euros' }],
  }
  const publish = (require_tests: string) => client.post(`/agents/${agent_id}/publish`, { body: { require_tests } })
  t.match(await publish('release'), { status: 422, body: { detail: [{ loc: ['body', 'require_tests'] }] } })
  await client.post('/tests', { body: { agent_id, definition } })
  const before = (await client.get(`/agents/${agent_id}`)).body.version
  const change = (price: string) =>
    client.patch(`/agents/${agent_id}`, { body: { system_prompt: `You are Ava. A table costs ${price} euros.` } })
  await change('25')
  t.match(await publish('release'), { status: 409, body: { detail: /did not pass: says the price/ } })
  t.equal((await client.get(`/agents/${agent_id}`)).body.version, before, 'calls get the version of before')
  await change('20')
  t.match(await publish('release'), { status: 200, body: { version: before + 1 } })
  const runs = (await client.get('/tests/runs')).body.items
  t.match(
    runs.map(({ agent_version }: { agent_version: number }) => agent_version),
    [before + 1, null],
    'the run that let it pass is one of the version that it became',
  )
  await change('30')
  const { run_id } = (await client.post('/tests/runs', { body: { agent_id } })).body
  const draft = await client.get(`/tests/runs/${run_id}`)
  t.match(draft.body, {
    agent_version: null,
    tests: [{ published: { version: before + 1, passed: 1, total: 1 } }],
  })
})

t.test('the tests that a publication requires are bounded as those of any run', async (t) => {
  const api = await startTestApi(t)
  const { client } = await api.signUp()
  const { agent_id } = (await client.post('/agents', { body: { agent_name: 'Ava', system_prompt: 'You are Ava.' } }))
    .body
  const definition = {
    ...{ name: 'says hello', tags: ['release'], caller: { say: ['Hello'] }, expect: [{ heard: 'hello' }], times: 100 },
  }
  for (let i = 0; i < 51; i++) await client.post('/tests', { body: { agent_id, definition } })
  t.match(await client.post(`/agents/${agent_id}/publish`, { body: { require_tests: 'release' } }), {
    status: 422,
    body: { detail: [{ loc: ['body', 'require_tests'], msg: /makes 5100 runs of tests; at most 5000/ }] },
  })
})
