import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createLogger } from '../../../../runtime/process/log.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { takeSessionTurn } from '../../../../store/redis/session-turns.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { settledDocuments, startTestJobs } from '../../../support/instance/jobs.ts'
import { until } from '../../../support/instance/realtime-node.ts'
import { messagesInLine } from '../../../support/providers/chat-line.ts'

const api = await startTestApi(t)
await startTestJobs(t, api)
const owner = await api.signUp()
const { client } = owner
const log = createLogger({ level: 'silent', name: 'test' })
const redis = await createRedis(api.redisUrl, log)
t.teardown(() => redis.destroy())

async function makeAgent(fields: Record<string, unknown> = {}): Promise<string> {
  const body = { agent_name: 'Ava', system_prompt: 'You are Ava of Harbour Dental. We open at nine.', ...fields }
  const answer = await client.post('/agents', { body })
  return answer.body.agent_id
}

/** An agent whose model follows a scenario of the simulated world. */
function makeSlowAgent(scenario: Record<string, unknown>): Promise<string> {
  return makeAgent({ LLM_provider: 'sim', LLM_model: JSON.stringify(scenario) })
}

const say = (agent_id: string, message: string, more: Record<string, unknown> = {}) =>
  client.post('/chats/interaction', { body: { agent_id, message, ...more } })

interface ServerEvent {
  event: string
  data: Record<string, unknown>
}

function readEvents(text: string): ServerEvent[] {
  return text
    .trim()
    .split('\n\n')
    .map((block) => {
      const [event = '', data = ''] = block.split('\n')
      return { event: event.replace('event: ', ''), data: JSON.parse(data.replace('data: ', '')) }
    })
}

t.test('an agent answers from its prompt and its documents, and the chat is kept', async (t) => {
  const agentId = await makeAgent()
  const form = new FormData()
  form.append('files', new Blob(['# Parking\n\nVisitors park behind the red lighthouse.']), 'parking.md')
  await client.post(`/agents/${agentId}/upload`, { form })
  await settledDocuments(client, agentId)

  const first = await say(agentId, 'Where do visitors park?')
  t.equal(first.status, 200)
  t.match(first.body, {
    agent_id: agentId,
    response: 'Visitors park behind the red lighthouse.',
    sources: [{ filename: 'parking.md', text: 'Parking:\nVisitors park behind the red lighthouse.' }],
  })
  const { usage, session_id, chat_id } = first.body
  t.ok(usage.llm_input_tokens > 0 && usage.llm_output_tokens > 0)
  t.equal(usage.total_tokens, usage.llm_input_tokens + usage.llm_output_tokens)
  t.same(first.body.cost, { cost_llm: 0, total_cost: 0 }, 'what runs offline costs nothing')

  const second = await say(agentId, 'When do you open?', { session_id })
  t.match(second.body, { response: 'We open at nine.', chat_id, session_id })

  const chat = await client.get(`/chats/${chat_id}`)
  t.match(chat.body, {
    chat_id,
    agent_id: agentId,
    session_id,
    message_count: 4,
    last_message: 'We open at nine.',
    messages: [
      { role: 'user', content: 'Where do visitors park?' },
      { role: 'assistant', content: 'Visitors park behind the red lighthouse.' },
      { role: 'user', content: 'When do you open?' },
      { role: 'assistant', content: 'We open at nine.' },
    ],
  })
  const logs = await client.get('/chats/logs', { query: { session_id } })
  t.match(logs.body, { items: [{ chat_id, message_count: 4 }], total: 1, page: 1, page_size: 25, total_pages: 1 })
})

t.test('variables fill the prompt for the whole session', async (t) => {
  const agentId = await makeAgent({ system_prompt: 'You are Ava. The appointment of {{name}} is on {{day}}.' })
  const variables = { name: 'Grace', day: 'Tuesday' }
  const first = await say(agentId, 'When is the appointment?', { dynamic_variables: variables })
  t.equal(first.body.response, 'The appointment of Grace is on Tuesday.')
  const { session_id } = first.body
  const second = await say(agentId, 'When is the appointment?', { session_id, dynamic_variables: { day: 'Friday' } })
  t.equal(second.body.response, 'The appointment of Grace is on Friday.')
})

t.test('the variables of a session grow up to their bounds', async (t) => {
  const agentId = await makeAgent({ system_prompt: 'You are Ava. The appointment is on {{day}}.' })
  const named = (prefix: string, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, '']))
  const refused = {
    status: 422,
    body: { detail: [{ loc: ['body', 'dynamic_variables'], msg: /with those of the session/ }] },
  }
  const grown = async (first: Record<string, string>, second: Record<string, string>) => {
    const begun = await say(agentId, 'When is the appointment?', { dynamic_variables: { day: 'Tuesday', ...first } })
    const { session_id, chat_id } = begun.body
    t.match(await say(agentId, 'And?', { session_id, dynamic_variables: second }), refused)
    t.equal((await client.get(`/chats/${chat_id}`)).body.message_count, 2, 'nothing is kept of what is refused')
    const after = await say(agentId, 'When is the appointment?', { session_id, dynamic_variables: { day: 'Friday' } })
    t.equal(after.body.response, 'The appointment is on Friday.')
  }
  await grown(named('a', 150), named('b', 150))
  await grown({ a: 'x'.repeat(40_000) }, { b: 'x'.repeat(40_000) })
})

t.test('a prompt that the variables make too long is refused, and nothing is kept', async (t) => {
  const agentId = await makeAgent({ system_prompt: '{{a}}'.repeat(50) })
  const answer = await say(agentId, 'Hello?', { session_id: 'long', dynamic_variables: { a: 'x'.repeat(30_000) } })
  t.match(answer, { status: 400, body: { detail: /system_prompt.*KiB/ } })
  t.equal((await client.get('/chats/logs', { query: { session_id: 'long' } })).body.total, 0)
})

t.test('a streamed answer comes as delta, sources and done', async (t) => {
  const agentId = await makeAgent()
  const answer = await say(agentId, 'When do you open?', { stream: true })
  t.equal(answer.status, 200)
  t.match(answer.headers.get('content-type'), /^text\/event-stream/)
  const events = readEvents(answer.text)
  const deltas = events.filter(({ event }) => event === 'delta')
  t.ok(deltas.length > 1)
  t.equal(deltas.map(({ data }) => data.text).join(''), 'We open at nine.')
  t.same(
    events.slice(-2).map(({ event }) => event),
    ['sources', 'done'],
  )
  t.match(events.at(-1)?.data, { agent_id: agentId, response: 'We open at nine.', usage: { total_tokens: Number } })
})

t.test('messages of one session sent at once are answered in the order they came', async (t) => {
  const agentId = await makeSlowAgent({ firstTokenMs: 150, otherwise: 'To {question}' })
  const { body } = await say(agentId, 'zero')
  const { session_id } = body
  await until(async () => (await messagesInLine(redis)) === 0)
  const { signal } = new AbortController()
  const turn = await takeSessionTurn(redis, [owner.workspaceId, agentId, session_id], {
    timeoutMs: 10_000,
    signal,
    log,
  })
  const sent: Promise<unknown>[] = []
  for (const word of ['one', 'two', 'three', 'four']) {
    sent.push(say(agentId, word, { session_id }))
    await until(async () => (await messagesInLine(redis)) === 1 + sent.length)
  }
  turn.release()
  await Promise.all(sent)
  const chat = await client.get(`/chats/${body.chat_id}`)
  t.same(
    chat.body.messages.map(({ content }: { content: string }) => content),
    ['zero', 'To zero', 'one', 'To one', 'two', 'To two', 'three', 'To three', 'four', 'To four'],
  )
})

t.test('a client that goes away in the middle cancels the model, and what it read is kept', async (t) => {
  const agentId = await makeSlowAgent({ tokensPerSecond: 4, otherwise: 'word '.repeat(24).trim() })
  const leaving = new AbortController()
  const response = await fetch(`${api.url}/chats/interaction`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      cookie: `access_token=${client.cookies.get('access_token')}`,
    },
    body: JSON.stringify({ agent_id: agentId, message: 'Tell me a story', session_id: 'left', stream: true }),
    signal: leaving.signal,
  })
  const reader = response.body?.getReader()
  await reader?.read()
  leaving.abort()
  await reader?.read().catch(() => {})
  const logs = () => client.get('/chats/logs', { query: { session_id: 'left' } })
  while ((await logs()).body.total === 0) await sleep(20)
  const { body } = await logs()
  const words = body.items[0].last_message.split(' ').length
  t.ok(words >= 1 && words < 24, `${words} words were kept`)
  await until(
    async () => (await messagesInLine(redis)) === 0,
    () => 'the turn to be given back',
  )
  const next = await say(agentId, 'Go on', { session_id: 'left' })
  t.equal(next.status, 200)
  t.match((await client.get(`/chats/${next.body.chat_id}`)).body.messages, [
    { content: 'Tell me a story' },
    { role: 'assistant' },
    { content: 'Go on' },
    { role: 'assistant' },
  ])
})

t.test('a model that fails before its first word is an error that says who failed; nothing is kept', async (t) => {
  const agentId = await makeSlowAgent({ fault: { kind: 'error', after: 0 } })
  for (const stream of [false, true]) {
    const answer = await say(agentId, 'Hello?', { session_id: 'faulty', stream })
    t.equal(answer.status, 500)
    t.match(answer.body.detail, /^Sim error: /)
  }
  const { body } = await client.get('/chats/logs', { query: { session_id: 'faulty' } })
  t.equal(body.total, 0)
})

t.test('an unknown agent or chat is not found, and a bad message changes nothing', async (t) => {
  const stranger = await api.signUp()
  const agentId = await makeAgent()
  const { body } = await say(agentId, 'When do you open?')
  const nowhere = '01890000-0000-7000-8000-000000000000'
  for (const id of ['x', nowhere]) {
    const agent = await say(id, 'Hello')
    t.same([agent.status, agent.body.detail], [404, 'Agent not found'])
    const chat = await client.get(`/chats/${id}`)
    t.same([chat.status, chat.body.detail], [404, 'Chat not found'])
  }
  const theirs = stranger.client
  t.equal((await theirs.get(`/chats/${body.chat_id}`)).status, 404)
  t.equal((await theirs.get('/chats/logs')).body.total, 0)
  t.equal((await theirs.post('/chats/interaction', { body: { agent_id: agentId, message: 'Hi' } })).status, 404)
  for (const wrong of [{}, { agent_id: agentId }, { agent_id: agentId, message: ' ' }, { agent_id: 1, message: 'a' }]) {
    t.equal((await client.post('/chats/interaction', { body: wrong })).status, 422)
  }
  t.equal((await client.get('/chats/logs', { query: { page_size: 201 } })).status, 422)
  t.equal((await client.get('/chats/logs', { query: { agent_id: 'x' } })).body.total, 0)
  t.equal((await client.get('/chats/logs', { query: { agent_id: agentId } })).body.total, 1)
})

t.test('a key of the workspace chats too', async (t) => {
  const agentId = await makeAgent()
  const key = await api.keyClient(owner)
  const { status } = await key.post('/chats/interaction', { body: { agent_id: agentId, message: 'When do you open?' } })
  t.equal(status, 200)
})

t.test('chats are found by words of a message, in their workspace alone', async (t) => {
  const agentId = await makeAgent()
  for (const [session_id, message] of [
    ['lighthouse', 'Do you whiten teeth at the lighthouse?'],
    ['implants', 'What does an implant cost?'],
  ]) {
    await say(agentId, message ?? '', { session_id })
  }
  const found = async (q: string, of = client) => {
    const { status, body } = await of.get(`/chats/logs?agent_id=${agentId}&q=${encodeURIComponent(q)}`)
    t.equal(status, 200, q)
    return [body.total, body.items.map(({ session_id }: { session_id: string }) => session_id)]
  }
  t.same(await found('teeth whit'), [1, ['lighthouse']], 'the last word as it begins')
  t.same(await found('"an implant" cost'), [1, ['implants']])
  t.same(await found('implant -cost'), [0, []])
  t.same(await found('teeth cost'), [0, []], 'words of one message')
  t.same(await found('  '), [2, ['implants', 'lighthouse']], 'nothing is asked for')
  for (const odd of ['"', '-', "' or 1=1", ':*', '& |']) await found(odd)
  const other = await api.signUp()
  t.same(await found('implant', other.client), [0, []])
})
