import t from 'tap'
import { extractedSummary, faultOf, onlyObjectIn } from '../../../../runtime/analysis/prompt.ts'
import { insertCall } from '../../../../store/calls/calls.ts'
import { startTestApi, type TestApi, type TestUser } from '../../../support/instance/api.ts'
import { startTestJobs } from '../../../support/instance/jobs.ts'
import { callWhen } from '../../../support/phone/phone.ts'
import { startChatServer } from '../../../support/providers/chat-server.ts'

/** A call that talked, and is over now. */
async function finishedCall(api: TestApi, user: TestUser, agentId: string): Promise<string> {
  const tenant = api.store.tenant(user.workspaceId)
  const { id } = await insertCall(tenant, {
    ...{ agent_id: agentId, agent_name: 'Ava', call_type: 'web', direction: 'inbound', status: 'in_progress' },
    answered_at: new Date(),
  } as never)
  const turns = [
    ['assistant', 'Hello, this is Ava.'],
    ['user', 'I want to move my appointment from Monday to Friday at ten.'],
    ['assistant', 'Done, see you on Friday at ten.'],
  ] as const
  for (const [seq, [role, text]] of turns.entries()) {
    await tenant.db.insertInto('call_turns').values({ call_id: id, seq, role, text, start_ms: 0, end_ms: 1 }).execute()
  }
  await tenant.db
    .updateTable('calls')
    .set({ status: 'completed', disposition: 'completed', ended_at: new Date(), duration_ms: 9_000 })
    .where('id', '=', id)
    .execute()
  return id
}

t.test('without a model a summary is made of what was said', async (t) => {
  const api = await startTestApi(t)
  await startTestJobs(t, api)
  const user = await api.signUp()
  const { body: agent } = await user.client.post('/agents', {
    body: { agent_name: 'Ava', system_prompt: 'You are Ava.' },
  })
  t.same(agent.analysis, { summary: true })
  const id = await finishedCall(api, user, agent.agent_id)
  const call = await callWhen(user, id, ({ analysis }) => analysis !== null)
  t.match(call.summary, /move my appointment from Monday to Friday/)
  t.match(call.summary, /see you on Friday/)
  t.match(call, { status: 'completed', disposition: 'completed', analysis: { success: null, error: null } })
})

t.test(
  'a model finds out what the agent wants to know, is asked once more where it is wrong, and again on demand',
  async (t) => {
    const answers = [
      'Sure! {"summary": "x", "success": "yes"}',
      '```json\n{"summary": "Moved to Friday.", "success": true, "reason": "It was moved.", "disposition": "moved", "data": {"day": "Friday"}}\n```',
    ]
    const server = await startChatServer(t, () => answers.shift() ?? 'I would rather not.')
    const api = await startTestApi(t, { env: server.env })
    await startTestJobs(t, api, server.env)
    const user = await api.signUp()
    const { body: agent, status } = await user.client.post('/agents', {
      body: {
        agent_name: 'Ava',
        system_prompt: 'You are Ava.',
        LLM_provider: 'openai',
        LLM_model: 'gpt-4.1-mini',
        analysis: {
          success: 'The appointment was moved',
          data: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
          dispositions: [{ name: 'moved', when: 'an appointment was moved' }],
        },
      },
    })
    t.equal(status, 201, JSON.stringify(agent))
    const id = await finishedCall(api, user, agent.agent_id)
    const call = await callWhen(user, id, ({ analysis }) => analysis !== null)
    t.match(call, {
      summary: 'Moved to Friday.',
      disposition: 'completed',
      analysis: { success: true, reason: 'It was moved.', data: { day: 'Friday' }, disposition: 'moved', error: null },
    })
    t.equal(server.asked.length, 2)
    t.match(server.asked[1]?.messages.at(-1)?.content, /"success" must be true or false/)
    const billed = await callWhen(user, id, ({ usage }) => (usage as { total_tokens: number }).total_tokens > 0)
    t.equal(billed.usage.total_tokens, 240)

    const report = async (by: string) => (await user.client.get('/reports/disposition', { query: { by } })).body
    t.match(await report('analysis'), { total: 1, dispositions: [{ disposition: 'moved', count: 1, percentage: 100 }] })
    t.match(await report('line'), { dispositions: [{ disposition: 'completed', count: 1 }] })

    t.match(await user.client.post(`/calls/${id}/analyze`), { status: 200, body: { detail: 'Analysis queued' } })
    const again = await callWhen(user, id, ({ analysis }) => (analysis as { error: string | null }).error !== null)
    t.match(again.analysis, { success: null, error: 'The language model gave no answer in the form asked for' })
    t.match(again.summary, /The caller said/)
  },
)

t.test('what a model says is read with care', async (t) => {
  t.same(onlyObjectIn('Here: {"a": {"b": 1}} done'), { a: { b: 1 } })
  for (const nothing of ['', 'no', '[1]', '{', '} {', '"{}"x']) t.notOk(onlyObjectIn(nothing)?.a, nothing)
  const wishes = { dispositions: [{ name: 'sold', when: 'sold' }] }
  t.equal(faultOf({ summary: 's', disposition: null }, wishes), undefined)
  t.match(faultOf({ summary: 's', disposition: 'other' }, wishes), /null or one of "sold"/)
  t.match(faultOf({}, {}), /"summary" must be a text/)
  t.equal(extractedSummary([]), null)
})
