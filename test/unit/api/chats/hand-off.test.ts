import t from 'tap'
import { startTestApi } from '../../../support/instance/api.ts'

const api = await startTestApi(t)
const { client } = await api.signUp()

interface Line {
  question: string
  answer: string
  tool?: { name: string; arguments: Record<string, unknown> }
}

async function makeAgent(agent_name: string, script: Line[], tools: object[] = []) {
  const LLM_model = JSON.stringify({ script, otherwise: `${agent_name}: {question}` })
  const body = { agent_name, system_prompt: `You are ${agent_name}.`, LLM_provider: 'sim', LLM_model, tools }
  const made = await client.post('/agents', { body })
  t.equal(made.status, 201, made.text)
  return made.body
}
const handOff = (name: string) => ({ name, arguments: { reason: 'It is about a bill.' } })
const ask = async (agent_id: string, session_id: string, message: string) => {
  const answer = await client.post('/chats/interaction', { body: { agent_id, session_id, message } })
  t.equal(answer.status, 200, answer.text)
  return answer.body
}

t.test('a chat goes on with the next agent, in this message and the later ones, and comes back', async (t) => {
  const billing = await makeAgent('Billing', [
    { question: 'my bill', answer: 'Your bill is paid.' },
    { question: 'the desk', answer: '', tool: handOff('hand_off_to_desk') },
  ])
  const tool = { type: 'handoff', to: billing.agent_id, when: 'A bill.', says: 'One moment.' }
  const desk = await makeAgent(
    'Desk',
    [
      { question: 'my bill', answer: '', tool: handOff('hand_off_to_billing') },
      { question: 'the desk', answer: 'The desk again.' },
    ],
    [tool],
  )
  const back = { type: 'handoff', to: desk.agent_id, when: 'The desk.' }
  await client.put(`/agents/${billing.agent_id}`, { body: { tools: [back] } })

  t.match(await ask(desk.agent_id, 's', 'hello'), { response: 'Desk: hello', present_agent_id: desk.agent_id })
  t.match(await ask(desk.agent_id, 's', 'my bill'), {
    response: 'One moment.\n\nYour bill is paid.',
    agent_id: desk.agent_id,
    present_agent_id: billing.agent_id,
  })
  t.match(await ask(desk.agent_id, 's', 'thanks'), { response: 'Billing: thanks', present_agent_id: billing.agent_id })
  t.match(await ask(desk.agent_id, 's', 'the desk'), { response: 'The desk again.', present_agent_id: desk.agent_id })
  t.match(await ask(desk.agent_id, 's', 'hello'), { response: 'Desk: hello' })
  const { body: logs } = await client.get('/chats/logs', { query: { session_id: 's' } })
  t.match(logs.items, [{ agent_id: desk.agent_id, present_agent_id: null, message_count: 10 }])
})

t.test('agents that hand a chat to each other without a word in between end with one answer', async (t) => {
  const one = await makeAgent('One', [{ question: 'ping', answer: 'one: {output}', tool: handOff('hand_off_to_two') }])
  const two = await makeAgent(
    'Two',
    [{ question: 'ping', answer: 'two: {output}', tool: handOff('hand_off_to_one') }],
    [{ type: 'handoff', to: one.agent_id, when: 'Always.' }],
  )
  await client.put(`/agents/${one.agent_id}`, {
    body: { tools: [{ type: 'handoff', to: two.agent_id, when: 'Always.' }] },
  })
  t.match(await ask(one.agent_id, 'loop', 'ping'), {
    response: 'two: The chat can’t be handed there now: go on yourself.',
    present_agent_id: two.agent_id,
  })
  const refused = await client.delete(`/agents/${two.agent_id}`)
  t.match(refused, { status: 409, body: { detail: 'Agent is handed callers by One' } })
  await client.put(`/agents/${one.agent_id}`, { body: { tools: [] } })
  t.equal((await client.delete(`/agents/${two.agent_id}`)).status, 200)
  t.match(
    await ask(one.agent_id, 'loop', 'still there?'),
    { response: 'One: still there?' },
    'the agent asked for goes on',
  )
})

t.test('a hand-off leads to another agent of the workspace, or to a webhook with its address', async (t) => {
  const { client: other } = await api.signUp('Bob')
  const foreign = await other.post('/agents', { body: { agent_name: 'F', system_prompt: 'p' } })
  const own = await makeAgent('Own', [])
  const faultsOf = async (tool: object) => {
    const { status, body } = await client.put(`/agents/${own.agent_id}`, { body: { tools: [tool] } })
    t.equal(status, 422, JSON.stringify(tool))
    return body.detail.map(({ loc, msg }: { loc: string[]; msg: string }) => `${loc.slice(3).join('.')}: ${msg}`)
  }
  const handoff = { type: 'handoff', when: 'Always.' }
  t.same(await faultsOf({ ...handoff, to: own.agent_id }), ['to: must be another agent'])
  for (const to of [foreign.body.agent_id, '01890000-0000-7000-8000-000000000000', 'nobody']) {
    t.same(await faultsOf({ ...handoff, to }), ['to: must be an agent of the workspace, or "webhook"'])
  }
  t.same(await faultsOf(handoff), ['to: Field required'])
  t.same(await faultsOf({ type: 'handoff', to: 'webhook', when: 'A' }), ['url: Field required'])
  t.same(await faultsOf({ ...handoff, to: 'webhook', url: 'ftp://x' }), ['url: must begin with http:// or https://'])
  const next = await makeAgent('Ünïcode & Co', [])
  t.same(await faultsOf({ type: 'handoff', to: next.agent_id }), ['when: Field required'])
  const saved = await client.put(`/agents/${own.agent_id}`, { body: { tools: [{ ...handoff, to: next.agent_id }] } })
  t.match(saved.body.tools, [{ name: 'hand_off_to_n_code_co', when: 'Always.', carries: 'all' }])
  t.match((await client.get(`/agents/${own.agent_id}/tools`)).body.tools, [
    { type: 'handoff', parameters: { required: ['reason'] }, description: /Use it when: Always\.$/ },
  ])
})
